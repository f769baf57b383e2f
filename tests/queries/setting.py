"""Two streams to ask about, rows for them, and what queries gave in a form that reads well."""

from __future__ import annotations

from collections.abc import Iterable

from upstream import ContinuousQuery, Engine, Result

WAYS = ("increments", "whole")
"""How windows are evaluated; what is measured is one or the other."""

Row = tuple[object, ...]


def make_streams(engine: Engine) -> None:
    """Make the streams `bids` and `asks`: a time in seconds, a key, a number, and a text."""
    for name in ("bids", "asks"):
        engine.sql(
            f"CREATE STREAM {name} (time BIGINT, k TEXT, x BIGINT, note TEXT) KEY (k) TIME (time)"
        )


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


def held(query: ContinuousQuery) -> int:
    """Return how many rows a query holds."""
    return query.statistics().rows_held
