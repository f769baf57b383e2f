"""The streams that the statements in tests read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from upstream.errors import QueryError
from upstream.queries.sql import read_query
from upstream.queries.sql.source_text import SourceText
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind
from upstream.rows.stream_definition import StreamDefinition

STREAMS = {
    each.name: each
    for each in (
        StreamDefinition(
            "trades",
            pa.schema(
                {
                    "time": pa.timestamp("us"),
                    "symbol": pa.string(),
                    "price": pa.float64(),
                    "size": pa.int32(),
                }
            ),
            ("symbol",),
            "time",
        ),
        StreamDefinition(
            "ticks", pa.schema({"tick": pa.int64(), "sensor": pa.string()}), ("sensor",), "tick"
        ),
        StreamDefinition("days", pa.schema({"day": pa.date32(), "k": pa.int32()}), ("k",), "day"),
        StreamDefinition("waves", pa.schema({"at": pa.float64(), "k": pa.int32()}), ("k",), "at"),
        StreamDefinition("news", pa.schema({"k": pa.string(), "text": pa.string()}), ("k",), None),
    )
}


def shown(caught: pytest.ExceptionInfo[QueryError]) -> str:
    """Return what is at the place of an error: from there to the end of the word."""
    error = caught.value
    assert error.line is not None
    assert error.column is not None
    return error.text.split("\n")[error.line - 1][error.column - 1 :]


@contextmanager
def refused(
    kind: type[QueryError], place: str | tuple[str, ...], reason: str | None = None
) -> Iterator[pytest.ExceptionInfo[QueryError]]:
    """Expect an error of this kind, with this reason or hint, at a place that begins like this."""
    with pytest.raises(kind, match=reason) as caught:
        yield caught
    assert shown(caught).startswith(place)


def select_of(text: str) -> exp.Select:
    """Parse a SELECT as users' statements are parsed."""
    select = SourceText(text).statement()
    assert isinstance(select, exp.Select)
    return select


def window(
    kind: str, stream: str, size: int = 0, slide: int = 0, *, axis: Axis = Axis.SOURCE, **more: Any
) -> WindowClause:
    """Return a window over the time of a stream, unless another axis is given."""
    return WindowClause(WindowKind(kind), stream, axis, size, slide, **more)


def only_window(windows: tuple[WindowClause, ...]) -> WindowClause:
    [window] = windows
    return window


def window_of(call: str) -> WindowClause:
    """Return the window that a call in FROM asks for."""
    return only_window(read_query(f"SELECT * FROM {call}", STREAMS).windows)
