"""Two streams, rows for them, and results in a form that is easy to compare."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pyarrow as pa
import pytest

from upstream import ContinuousQuery, Engine, ManualClock, Result
from upstream.queries.choices import Way
from upstream.queries.evaluation.shared_windows import WindowsOfQuery
from upstream.queries.evaluation.windowed import WindowedEvaluation
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.engine_stream import EngineStream
from upstream.tables.log import LogReader

WAYS: tuple[Way, ...] = ("increments", "whole")
"""How windows are evaluated; what is measured is one or the other."""
every_way = pytest.mark.parametrize("way", WAYS)

Row = tuple[object, ...]


def make_streams(engine: Engine) -> None:
    """Make the streams `bids` and `asks`: a time in seconds, a key, a number, and a text."""
    for definition in _definitions():
        engine._catalogue.streams.add(EngineStream(definition, engine._clock, engine._lock))


@cache
def _definitions() -> tuple[StreamDefinition, ...]:
    """Define the streams in SQL, which takes longer than most tests, once in a process."""
    with Engine(clock=ManualClock()) as engine:
        for name in ("bids", "asks"):
            columns = "time BIGINT, k TEXT, x BIGINT, note TEXT"
            engine.sql(f"CREATE STREAM {name} ({columns}) KEY (k) TIME (time)")
        return tuple(engine.streams.values())


def append(engine: Engine, stream: str, *rows: tuple[int | str, ...]) -> None:
    """Append rows: a time, and if they matter a number, a key and a text."""
    defaults: tuple[int | str, ...] = (0, 1, "a", "1")
    full = [(*row, *defaults[len(row) :]) for row in rows]
    times, numbers, keys, notes = zip(*full, strict=True)
    engine.append(stream, {"time": times, "k": keys, "x": numbers, "note": notes})


def rows_of(result: Result) -> list[Row]:
    """Return the rows of a result as tuples of plain values, sorted."""
    rows = [tuple(row.values()) for row in result.table.to_pylist()]
    return sorted(rows, key=repr)


def given(results: Iterable[Result]) -> list[tuple[object, ...]]:
    """Return the bounds and the rows of each result; the one value alone if there is no more."""
    return [(each.window_start, each.window_end, content(each)) for each in results]


def revised(results: Iterable[Result]) -> list[tuple[object, ...]]:
    """Return the start, the revision and the content of each result."""
    return [(each.window_start, each.revision, content(each)) for each in results]


def content(result: Result) -> object:
    """Return the rows of a result, or its value if it is a single one."""
    rows = rows_of(result)
    return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else rows


def asked(query: ContinuousQuery) -> Result:
    """Return what a query answers when it is asked."""
    result = query.ask()
    assert result is not None
    return result


def waiting(reader: LogReader) -> pa.Table:
    """Return all rows that wait for a reader of a log."""
    return pa.concat_tables([batch.rows for batch in reader.peek()])


def held(query: ContinuousQuery) -> int:
    """Return how many rows a query holds."""
    return query.statistics().rows_held


def windows_of(query: ContinuousQuery) -> WindowedEvaluation:
    """Return what evaluates the windows of a query."""
    evaluation = query._evaluated._evaluation
    if isinstance(evaluation, WindowsOfQuery):
        return evaluation.windows
    assert isinstance(evaluation, WindowedEvaluation)
    return evaluation
