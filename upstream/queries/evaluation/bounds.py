"""The bounds of windows: as users see them in results, and as queries read them.

A query that names `window_start` or `window_end` reads a table of one row, `bounds_i`, for the
window of its input i.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.window_bound import WindowBound
    from ..chunks.grid import Grid
    from ..chunks.windows import Span


class Bounds:
    """Makes times of chunks. `value` makes a bound of a time, and `schemas` are those of tables."""

    __slots__ = ("_grid", "_schemas", "_value")

    def __init__(
        self,
        grid: Grid,
        value: Callable[[int], WindowBound],
        schemas: Mapping[int, pa.Schema] | None = None,
    ) -> None:
        self._grid = grid
        self._value = value
        self._schemas = schemas or {}

    def of(self, spans: Sequence[Span]) -> tuple[WindowBound, WindowBound]:
        """Return where the window of all inputs together starts and ends."""
        first = min(span.first for span in spans)
        end = max(span.end for span in spans)
        return self._at(first), self._at(end)

    def tables(self, spans: Sequence[Span] | None) -> dict[str, pa.Table]:
        """Return the tables of bounds that the query reads; empty ones if there is no window."""
        import pyarrow as pa

        found = {}
        for number, schema in self._schemas.items():
            rows = schema.empty_table()
            if spans is not None:
                times = [self._grid.start_of(chunk) for chunk in spans[number]]
                rows = pa.table([as_time(time, schema.field(0).type) for time in times], schema)
            found[f"bounds_{number}"] = rows
        return found

    def _at(self, chunk: int) -> WindowBound:
        return self._value(self._grid.start_of(chunk))


def as_time(time: int, kind: pa.DataType) -> pa.Array:
    """Return a time in units of its axis as a column of one row."""
    import pyarrow as pa

    if pa.types.is_floating(kind):
        return pa.array([time / 1_000_000], kind)
    if pa.types.is_date32(kind):
        return pa.array([time], pa.int32()).cast(kind)
    return pa.array([time], pa.int64()).cast(kind)
