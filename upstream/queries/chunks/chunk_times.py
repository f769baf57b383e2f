"""The times of the first and the last row of each chunk, in the order of arrival.

They are the bounds of chunks whose boundaries are not times. They are times of the stream, or, if
the stream has no time, moments of arrival in microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from .cutter import microseconds
from .ring import Ring

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from .cutter import Piece


class Bounds(NamedTuple):
    """The times of the first and the last row."""

    first: int
    last: int


class ChunkTimes:
    """Notes the times of chunks, batch by batch; nothing has changed until `took`."""

    __slots__ = ("_definition", "_ring")

    def __init__(self, definition: StreamDefinition) -> None:
        self._definition = definition
        self._ring = Ring[Bounds]()

    def of(self, pieces: Sequence[Piece], arrival: float) -> list[tuple[int, Bounds]]:
        """Return the bounds of the pieces of one batch, each with its chunk. O(rows)."""
        if not pieces:
            return []
        chunks, tables = zip(*pieces, strict=True)
        if self._definition.time is None:
            moment = microseconds(arrival)
            return [(chunk, Bounds(moment, moment)) for chunk in chunks]
        times = self._definition.times(pa.concat_tables(tables))
        ends = np.cumsum([table.num_rows for table in tables])
        firsts, lasts = times[np.append(0, ends[:-1])], times[ends - 1]
        return [
            (chunk, Bounds(first, last))
            for chunk, first, last in zip(chunks, firsts.tolist(), lasts.tolist(), strict=True)
        ]

    def took(self, found: Sequence[tuple[int, Bounds]]) -> None:
        """Note the bounds of pieces; a chunk may have pieces of several batches."""
        for chunk, bounds in found:
            if not self._ring.add_first(chunk, bounds):
                [before] = self._ring.of(chunk)
                self._ring.replace(chunk, [Bounds(before.first, bounds.last)])

    def bounds(self, chunk: int) -> Bounds | None:
        """Return the bounds of a chunk, or None if it has no rows."""
        return next(iter(self._ring.of(chunk)), None)

    def forget(self, before: int) -> None:
        """Forget earlier chunks."""
        self._ring.forget(before)
