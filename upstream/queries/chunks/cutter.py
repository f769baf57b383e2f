"""Cuts batches into chunks, and decides which rows are late.

Time is the time that the rows have. A row is late if its chunk is older than the newest row's
chunk, because the newer row closed that chunk. With an allowed lateness, a row no further behind
the newest row than that is still accepted, and amends its chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from .grid import Grid, Integers
    from .ordinal_cuts import OrdinalCut

MICROSECONDS = 1_000_000


Piece = tuple[int, "pa.Table"]
"""Rows of one chunk, with the number of the chunk."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A batch in pieces: the rows of one chunk each, in the order of chunks, and the late rows.

    `oldest` and `newest` are times of accepted rows. `amended` are the chunks of accepted rows that
    were late. `progress` is how far time has passed with these rows. `ordinals` is what counts them
    if chunks are numbered in the order of arrival.
    """

    pieces: list[Piece]
    progress: int | None
    oldest: int = 0
    newest: int = 0
    late: int = 0
    amended: tuple[int, ...] = ()
    ordinals: OrdinalCut | None = None
    is_in_order: bool = False
    """Whether the pieces, one after the other, are all rows of the batch in their order."""


def microseconds(seconds: float) -> int:
    """Return a moment of the clock in the unit of the arrival axis."""
    return round(seconds * MICROSECONDS)


class Cutter:
    """Cuts the rows of one input of a query into the chunks of a grid, batch by batch.

    It keeps no state: `newest` is how far time had passed before the batch.
    """

    __slots__ = ("_grid", "_lateness")

    def __init__(self, grid: Grid, lateness: int | None = None) -> None:
        self._grid = grid
        self._lateness = lateness

    def cut_one(self, rows: pa.Table, time: int, newest: int | None) -> Cut:
        """Cut rows that all have one time, which is not before the newest."""
        time = time if newest is None else max(time, newest)
        return Cut([(self._grid.chunk_of(time), rows)], time, time, time)

    def cut_counted(self, rows: pa.Table, first: int) -> Cut:
        """Cut rows whose times are their numbers."""
        end = first + int(rows.num_rows)
        pieces = []
        at = first
        while at < end:
            chunk = self._grid.chunk_of(at)
            until = min(end, self._grid.start_of(chunk + 1))
            pieces.append((chunk, rows.slice(at - first, until - at)))
            at = until
        return Cut(pieces, end - 1, first, end - 1)

    def cut(self, rows: pa.Table, times: Integers, newest: int | None) -> Cut:
        """Cut rows by their times. O(rows), and less if they are in order."""
        if not len(times):
            return Cut([], newest)
        first, last = int(times[0]), int(times[-1])
        is_ordered = bool((times[1:] >= times[:-1]).all())
        if is_ordered and (newest is None or first >= newest):
            return Cut(self._slices(rows, times), last, first, last, is_in_order=True)
        return self._cut_unordered(rows, times, newest)

    def end_of_chunk(self, time: int) -> int:
        """Return when the chunk that contains a time ends."""
        return self._grid.start_of(self._grid.chunk_of(time) + 1)

    def _slices(self, rows: pa.Table, times: Integers) -> list[Piece]:
        """Cut rows whose chunks ascend, without copying them."""
        first, last = (self._grid.chunk_of(int(time)) for time in (times[0], times[-1]))
        if first == last:
            return [(first, rows)]
        if last - first > len(times):
            return cut_by_chunk(rows, self._grid.chunks_of(times))
        starts = np.searchsorted(times, self._grid.starts(first, last))  # cheaper than divisions
        ends = np.append(starts[1:], len(times))
        starts[0] = 0
        return [
            (first + number, rows.slice(start, end - start))
            for number, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
            if end > start
        ]

    def _cut_unordered(self, rows: pa.Table, times: Integers, newest: int | None) -> Cut:
        newest_so_far = np.maximum.accumulate(times)
        if newest is not None:
            newest_so_far = np.maximum(newest_so_far, newest)
        chunks = self._grid.chunks_of(times)
        is_behind = chunks < self._grid.chunks_of(newest_so_far)
        if self._lateness is None:
            is_late = is_behind
        else:
            is_late = is_behind & (times < newest_so_far - self._lateness)
        progress = int(newest_so_far[-1])
        amended = np.unique(chunks[is_behind & ~is_late]).tolist()
        accepted = np.flatnonzero(~is_late)
        chunks = chunks[accepted]
        order = np.argsort(chunks, kind="stable")
        pieces = cut_by_chunk(rows.take(accepted[order]), chunks[order])
        late = len(times) - len(accepted)
        if not pieces:
            return Cut([], progress, late=late)
        times = times[accepted]
        return Cut(pieces, progress, int(times.min()), int(times.max()), late, tuple(amended))


def cut_by_chunk(rows: pa.Table, chunks: Integers) -> list[Piece]:
    """Cut rows with ascending chunks at the places where the chunk changes."""
    if not len(chunks):
        return []
    starts = np.flatnonzero(np.concatenate(([True], chunks[1:] != chunks[:-1])))
    ends = np.append(starts[1:], len(chunks))
    return [
        (int(chunks[start]), rows.slice(start, end - start))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
