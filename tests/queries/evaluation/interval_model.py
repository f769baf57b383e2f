"""What an interval join must answer: one DuckDB join over all rows in time, found in plain Python.

Rows are `(time, k, x)` in whole seconds. The streams and the tables of the join are called a, b, c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import pyarrow as pa

from upstream import ContinuousQuery, Engine, ManualClock
from upstream.database.duck import Duck

Row = tuple[int, str, int | None]
SCHEMA = pa.schema([("time", pa.int64()), ("k", pa.string()), ("x", pa.int64())])
END = "end"
"""The key of the rows with which a test ends, far behind all others; they are left out."""


class Came(NamedTuple):
    """A batch of a stream, with its arrival."""

    arrival: float
    rows: Sequence[Row]


@dataclass
class Stream:
    """What is known of a stream after each moment at which a batch came."""

    since: float
    kept: list[Row] = field(default_factory=list)
    late: int = 0
    history: list[tuple[float, float | None, int | None, int | None]] = field(default_factory=list)
    """Arrival of a batch; then the last arrival of a row in time, the newest of these rows, and
    the time reached."""

    def at(self, moment: float) -> tuple[float | None, int | None, int | None]:
        """Return what was known before a moment."""
        before = [each for each in self.history if each[0] < moment]
        return before[-1][1:] if before else (None, None, None)

    def now(self) -> tuple[float | None, int | None, int | None]:
        return self.history[-1][1:] if self.history else (None, None, None)


def in_time(
    batches: Sequence[Sequence[Came]],
    lateness: int = 0,
    close_after: float | None = None,
    since: float = 0.0,
) -> list[Stream]:
    """Return what becomes of the rows of each stream, in the order of arrival."""
    streams = [Stream(since) for _ in batches]
    order = sorted(
        (batch.arrival, number, place)
        for number, came in enumerate(batches)
        for place, batch in enumerate(came)
    )
    for arrival, number, place in order:
        stream = streams[number]
        last, newest, reached = stream.now()
        if _is_silent(arrival, last, since, close_after):
            come = [_come(each, arrival, close_after) for each in streams]
            reached = max((each for each in [reached, *come] if each is not None), default=None)
        for row in batches[number][place].rows:
            reached = row[0] if reached is None else max(reached, row[0])
            if row[0] < reached - lateness:
                stream.late += 1
                continue
            stream.kept.append(row)
            newest = row[0] if newest is None else max(newest, row[0])
            last = arrival
        stream.history.append((arrival, last, newest, reached))
    return streams


def _is_silent(moment: float, last: float | None, since: float, close_after: float | None) -> bool:
    return close_after is not None and moment - (since if last is None else last) >= close_after


def _come(stream: Stream, moment: float, close_after: float | None) -> int | None:
    """Return how far a stream had come before a moment: by rows, or by silence until then."""
    last, newest, reached = stream.at(moment)
    if last is None or newest is None or reached is None:
        return reached
    if _is_silent(moment, last, 0.0, close_after):
        return max(reached, newest + int(moment - last))
    return reached


def joined(duck: Duck, text: str, streams: Sequence[Stream]) -> list[tuple[object, ...]]:
    """Return the rows of a join of the tables a, b, … of all rows in time."""
    tables = {
        name: pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in each.kept],
                                   schema=SCHEMA)
        for name, each in zip("abc", streams, strict=False)
    }  # fmt: skip
    return without_ends(
        [tuple(row.values()) for row in duck.run_as_written(text, tables).to_pylist()]
    )


def without_ends(rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return the rows that have no key of the end, in an order."""
    return sorted((row for row in rows if END not in row), key=repr)


class House:
    """An engine with the streams a, b and c, and a record of what came."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.engine = Engine(clock=self.clock)
        for name in "abc":
            self.engine.sql(
                f"CREATE STREAM {name} (time BIGINT, k TEXT, x BIGINT) KEY (k) TIME (time)"
            )
        self.batches: list[list[Came]] = [[], [], []]

    def query(self, text: str, **options: float | None) -> ContinuousQuery:
        """Begin a query, and a new record."""
        self.batches = [[], [], []]
        return self.engine.continuous_query(text, **options)  # type: ignore[arg-type]

    def append(self, name: str, *rows: Row) -> None:
        """Append a batch and record it."""
        if rows:
            times, keys, numbers = zip(*rows, strict=True)
            self.engine.append(name, {"time": times, "k": keys, "x": numbers})
            self.batches["abc".index(name)].append(Came(self.clock.now(), rows))


def rows_of(query: ContinuousQuery) -> list[tuple[object, ...]]:
    """Take the results, as the rows of all of them."""
    tables = [result.table.to_pylist() for result in query.results()]
    return sorted((tuple(row.values()) for row in chain(*tables)), key=repr)
