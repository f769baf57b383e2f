"""Continuous queries: SQL over streams that is evaluated by increments, and Python plans.

`upstream.Engine` is what makes standing queries; `upstream.queries.operators` has what Python plans
are made of.
"""

from .continuous_query import ContinuousQuery
from .query_statistics import QueryStatistics
from .results import Result

__all__ = ["ContinuousQuery", "QueryStatistics", "Result"]
