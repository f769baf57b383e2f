"""The queries of the DataCell paper (section 4), and the rows they are asked about.

The paper's selectivities are shares: of the rows that a selection keeps, of the pairs of rows that
match in a join. So values are drawn evenly from as many as that takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import numpy as np
import pyarrow as pa

Rows = tuple[pa.Table, ...]
"""Rows of each stream of a query."""

STREAMS = ("stream1", "stream2")
VALUES = 1_000


@dataclass(frozen=True, slots=True)
class Query:
    """A query over sliding windows of its streams; `{0}` and `{1}` in it are these."""

    text: str
    window: int
    step: int
    streams: int
    x1_values: int
    x2_values: int
    x2_type: str = "BIGINT"
    key: str = ""
    """The key of its streams, if any: the paper knows of none."""

    @property
    def over_tables(self) -> str:
        """The query as re-evaluation asks it: the streams are tables that hold the window."""
        return self.text.format(*STREAMS)

    @property
    def over_windows(self) -> str:
        """The query as it stands over streams."""
        windows = (f"rows({name}, {self.window}, {self.step})" for name in STREAMS)
        return self.text.format(*windows)

    def definitions(self) -> list[str]:
        """Return the statements that define its streams."""
        columns = f"(x1 BIGINT, x2 {self.x2_type})" + (f" KEY ({self.key})" if self.key else "")
        return [f"CREATE STREAM {name} {columns}" for name in STREAMS[: self.streams]]


def query_1(
    *,
    window: int = 10_240_000,
    step: int = 20_000,
    kept: float = 0.2,
    groups: int = 2_000,
    x2_type: str = "BIGINT",
) -> Query:
    """Return Q1: sums by group of the share of rows that is kept."""
    values = round(groups / kept)
    text = "SELECT x1, sum(x2) AS total FROM {0} AS s WHERE x1 > %d GROUP BY x1"
    return Query(text % (values - groups - 1), window, step, 1, values, VALUES, x2_type)


def query_2(*, window: int = 102_400, step: int = 1_600, matching: float = 0.01) -> Query:
    """Return Q2: matches in two streams, in which this share of the pairs matches."""
    text = (
        "SELECT max(s1.x1) AS greatest, avg(s2.x1) AS mean "
        "FROM {0} AS s1, {1} AS s2 WHERE s1.x2 = s2.x2"
    )
    return Query(text, window, step, 2, VALUES, round(1 / matching))


def query_3(*, step: int = 250_000, kept: float = 0.2) -> Query:
    """Return Q3, which the paper asks of all rows since a landmark."""
    values = 10_000
    text = "SELECT max(x1) AS greatest, sum(x2) AS total FROM {0} AS s WHERE x1 > %d"
    return Query(text % (values * (1 - kept) - 1), 0, step, 1, values, VALUES)


@dataclass(slots=True)
class Feed:
    """Endless rows for the streams of a query: drawn once, and then again from the front."""

    query: Query
    drawn: int
    _streams: list[pa.Table] = field(init=False)
    _next: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._streams = [
            draw(self.query, self.drawn, seed) for seed, _ in zip(count(1), STREAMS, strict=False)
        ][: self.query.streams]

    def take(self, rows: int) -> Rows:
        """Return the next rows of each stream; nothing is copied."""
        assert rows <= self.drawn
        if self._next + rows > self.drawn:
            self._next = 0
        taken = tuple(stream.slice(self._next, rows) for stream in self._streams)
        self._next += rows
        return taken


def draw(query: Query, rows: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    x1, x2 = (random.integers(0, values, rows) for values in (query.x1_values, query.x2_values))
    if query.x2_type == "DOUBLE":
        return pa.table({"x1": x1, "x2": x2 * 0.1})
    return pa.table({"x1": x1, "x2": x2})
