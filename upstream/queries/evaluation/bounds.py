"""The bounds of windows: as results have them, and as queries read them.

A query that names `window_start` or `window_end` reads a table of one row, `bounds_i`, for the
window of its input i.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..sql.window_bounds import bounds_name, bounds_table

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.stream_times import WindowBound
    from ..chunks.grid import Grid
    from ..chunks.windows import Span


class WindowBounds(Protocol):
    """The bounds of windows or epochs."""

    are_read: bool
    """Whether the query reads tables of bounds."""

    def epoch(self, spans: Sequence[Span]) -> int | None:
        """Return the number of an epoch; None for other windows."""

    def of(self, spans: Sequence[Span]) -> tuple[WindowBound, WindowBound]:
        """Return where a window starts and ends."""

    def tables(self, spans: Sequence[Span] | None) -> dict[str, pa.Table]:
        """Return the tables of bounds that the query reads."""


class Bounds:
    """Turns chunks into times. `value` makes a bound from a time.

    `schemas` are those of the tables.
    """

    __slots__ = ("_grid", "_schemas", "_value", "are_read")

    def __init__(
        self,
        grid: Grid,
        value: Callable[[int], WindowBound],
        schemas: Mapping[int, pa.Schema],
    ) -> None:
        self._grid = grid
        self._value = value
        self._schemas = schemas
        self.are_read = bool(schemas)
        """Whether the query reads any bounds."""

    def epoch(self, spans: Sequence[Span]) -> None:
        """Return None, since these windows are no epochs."""

    def of(self, spans: Sequence[Span]) -> tuple[WindowBound, WindowBound]:
        """Return where the window of all inputs together starts and ends."""
        first = min(span.first for span in spans)
        end = max(span.end for span in spans)
        return self._at(first), self._at(end)

    def tables(self, spans: Sequence[Span] | None) -> dict[str, pa.Table]:
        """Return the tables of bounds that the query reads, with NULLs if there is no window."""
        return {
            bounds_name(number): bounds_table(schema, *self._times(spans, number))
            for number, schema in self._schemas.items()
        }

    def _times(self, spans: Sequence[Span] | None, number: int) -> tuple[int | None, int | None]:
        if spans is None:
            return None, None
        first, end = spans[number]
        return self._grid.start_of(first), self._grid.start_of(end)

    def _at(self, chunk: int) -> WindowBound:
        return self._value(self._grid.start_of(chunk))
