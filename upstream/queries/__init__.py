"""Continuous queries: SQL over streams that is evaluated by increments, and Python plans.

`upstream.Engine` is what makes standing queries; `upstream.queries.operators` has what Python plans
are made of.
"""

from .choices import Emit, Semantics, Way
from .continuous_query import Callback, ContinuousQuery
from .query_statistics import QueryStatistics
from .results import Result
from .window_bound import WindowBound

__all__ = [
    "Callback",
    "ContinuousQuery",
    "Emit",
    "QueryStatistics",
    "Result",
    "Semantics",
    "Way",
    "WindowBound",
]
