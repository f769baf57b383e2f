"""A query whose results fill streams in tests, and rows in a form that is easy to compare."""

from __future__ import annotations

from upstream import ContinuousQuery, Engine

SUMS = "SELECT k, sum(x) AS x FROM tumble(bids, 10) GROUP BY k"


def rows_of(engine: Engine, stream: str) -> list[tuple[object, ...]]:
    """Return the newest rows of a stream, by a one-time query."""
    answer = engine.sql(f"SELECT * FROM {stream} ORDER BY ALL")
    return [tuple(row.values()) for row in answer.to_pylist()]


def told(query: ContinuousQuery) -> list[object]:
    return [sorted(tuple(row.values()) for row in each.table.to_pylist()) for each in query]
