"""The columns `epoch`, `window_start` and `window_end` of the rows of epochs, and their bounds.

A chunk by time has the bounds of the grid. A chunk that is cut in the order of arrival has the
times of its first and its last row, so they are known when the chunk is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ..sql import window_bounds
from ..sql.window_bounds import HIDDEN, bound_value

if TYPE_CHECKING:
    from ...rows.stream_times import WindowBound
    from ..chunks.chunk_times import ChunkTimes
    from ..chunks.grid import Grid
    from ..chunks.windows import Span

_EPOCH: Final = HIDDEN[window_bounds.EPOCH]
_START: Final = HIDDEN[window_bounds.WINDOW_START]
_END: Final = HIDDEN[window_bounds.WINDOW_END]


class EpochColumns:
    """Adds the columns that a query names to the rows of one input.

    `schema` is that of the rows with these columns. `times` are those of the first and last rows of
    chunks that are not cut by time; otherwise the grid has the bounds.
    """

    __slots__ = ("_grid", "_names", "_schema", "_times")

    def __init__(
        self, schema: pa.Schema, names: Sequence[str], grid: Grid, times: ChunkTimes | None
    ) -> None:
        self._schema = schema
        self._names = [*names]
        self._grid = grid
        self._times = times

    @property
    def are_late(self) -> bool:
        """Whether some of the columns are known only once a chunk is complete."""
        return self._times is not None and self._names != [_EPOCH]

    def marked(self, chunk: int, rows: pa.Table) -> pa.Table:
        """Return rows of a chunk with the columns that are known when they arrive."""
        for name in [_EPOCH] if self.are_late else self._names:
            kind = pa.int64() if name == _EPOCH else self._schema.field(name).type
            value = pa.scalar(bound_value(self._value(chunk, name), kind), kind)
            rows = rows.append_column(pa.field(name, kind), pa.repeat(value, rows.num_rows))
        return rows

    def completed(self, rows: pa.Table) -> pa.Table:
        """Return marked rows of complete chunks with all columns."""
        if self._times is None or not self.are_late:
            return rows
        if not rows.num_rows:
            return self._schema.empty_table()
        chunks = rows.column(_EPOCH).to_numpy()
        known, places = np.unique(chunks, return_inverse=True)
        times = np.array([self._times.bounds(chunk) for chunk in known.tolist()], np.int64)
        columns = {_EPOCH: rows.column(_EPOCH)}
        for number, name in enumerate((_START, _END)):
            if name in self._names:
                kind = self._schema.field(name).type
                values = [bound_value(time, kind) for time in times[:, number].tolist()]
                columns[name] = pa.array(values, kind).take(pa.array(places))
        rows = rows.drop_columns([_EPOCH])
        for name in self._names:
            rows = rows.append_column(self._schema.field(name), columns[name])
        return rows

    def _value(self, chunk: int, name: str) -> int:
        if name == _EPOCH:
            return chunk
        return self._grid.start_of(chunk + 1 if name == _END else chunk)


class EpochBounds:
    """The bounds and the numbers of epochs, as results have them.

    `value` makes a bound from a time. `times` are those of the first and last rows of the chunks of
    each input, if these are not cut by time.
    """

    __slots__ = ("_grid", "_times", "_value", "are_read")

    def __init__(
        self,
        grid: Grid,
        value: Callable[[int], WindowBound],
        times: Sequence[ChunkTimes],
    ) -> None:
        self._grid = grid
        self._value = value
        self._times = times
        self.are_read = False
        """Whether queries read tables of bounds; epochs have columns instead."""

    def epoch(self, spans: Sequence[Span]) -> int:
        """Return the number of an epoch."""
        return max(span.end for span in spans) - 1

    def of(self, spans: Sequence[Span]) -> tuple[WindowBound, WindowBound]:
        """Return where an epoch starts and ends: its newest chunks; None if these have no rows."""
        chunk = self.epoch(spans)
        if not self._times:
            ends = self._grid.start_of(chunk), self._grid.start_of(chunk + 1)
            return self._value(ends[0]), self._value(ends[1])
        found = [times.bounds(chunk) for times in self._times]
        known = [each for each in found if each is not None]
        if not known:
            return None, None
        first, last = min(each.first for each in known), max(each.last for each in known)
        return self._value(first), self._value(last)

    def tables(self, spans: Sequence[Span] | None) -> dict[str, pa.Table]:
        """Return no tables."""
        return {}
