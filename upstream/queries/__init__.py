"""Continuous queries: SQL over streams that is evaluated incrementally, and Python plans.

`upstream.Engine` makes standing queries. `upstream.plans` has the parts of Python plans.
"""

from ..rows.stream_times import WindowBound
from .choices import Emit, Semantics, Way
from .continuous_query import Callback, ContinuousQuery
from .results.backlog import QueryStatistics, Result
from .results.parquet_sink import ParquetSink
from .results.sink import Sink
from .results.view_statistics import ViewStatistics
from .view import ContinuousView

__all__ = [
    "Callback",
    "ContinuousQuery",
    "ContinuousView",
    "Emit",
    "ParquetSink",
    "QueryStatistics",
    "Result",
    "Semantics",
    "Sink",
    "ViewStatistics",
    "Way",
    "WindowBound",
]
