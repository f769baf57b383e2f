"""Continuous queries: SQL over streams that is evaluated incrementally, and Python plans.

`upstream.Engine` makes standing queries. `upstream.plans` has the parts of Python plans.
"""

from ..rows.stream_times import WindowBound
from .choices import Emit, Semantics, Way
from .continuous_query import Callback, ContinuousQuery
from .results.backlog import QueryStatistics, Result

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
