"""Cutting batches into steps, and telling which rows are late.

Time is what the stream says it is: a row whose step is older than the newest row's step is late,
because that step was closed by the newer row. With an allowed lateness it is accepted as long as it
is no further behind the newest row than that, and amends its step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Cut:
    """A batch in pieces: rows of one step each, in order of steps, and those that came late.

    `oldest` and `newest` are times of rows that were accepted, and `amended` are the steps of those
    of them that were late.
    """

    pieces: list[tuple[int, pa.Table]]
    oldest: int = 0
    newest: int = 0
    late: int = 0
    amended: tuple[int, ...] = ()


def microseconds(seconds: float) -> int:
    """Return a moment of the clock on the axis of arrival."""
    return round(seconds * MICROSECONDS)


class Cutter:
    """Cuts the rows of one window of a query into steps, batch by batch."""

    __slots__ = ("_lateness", "_step", "newest")

    def __init__(self, step: int, lateness: int | None = None) -> None:
        assert step > 0
        self._step = step
        self._lateness = lateness
        self.newest: int | None = None
        """The newest time of a row so far."""

    def cut_one(self, rows: pa.Table, time: int) -> Cut:
        """Cut rows that are all of one time, which never goes back."""
        assert self.newest is None or time >= self.newest
        self.newest = time
        return Cut([(time // self._step, rows)], time, time)

    def cut_counted(self, rows: pa.Table, first: int) -> Cut:
        """Cut rows whose times are their numbers."""
        end = first + int(rows.num_rows)
        self.newest = end - 1
        pieces = []
        at = first
        while at < end:
            step = at // self._step
            until = min(end, (step + 1) * self._step)
            pieces.append((step, rows.slice(at - first, until - at)))
            at = until
        return Cut(pieces, first, end - 1)

    def cut(self, rows: pa.Table, times: NDArray[np.int64]) -> Cut:
        """Cut rows by their times. O(rows), and less if they are in order."""
        if not len(times):
            return Cut([])
        oldest, newest = int(times[0]), int(times[-1])
        is_ordered = bool((times[1:] >= times[:-1]).all())
        if is_ordered and (self.newest is None or oldest >= self.newest):
            self.newest = newest
            return Cut(self._slices(rows, times), oldest, newest)
        return self._cut_unordered(rows, times)

    def _slices(self, rows: pa.Table, times: NDArray[np.int64]) -> list[tuple[int, pa.Table]]:
        """Cut rows whose steps ascend, without copying them."""
        first, last = int(times[0]) // self._step, int(times[-1]) // self._step
        if first == last:
            return [(first, rows)]
        if last - first > len(times):
            return _pieces(rows, times // self._step)
        steps = np.arange(first, last + 1)  # a division for each row costs more than the searches
        starts = np.searchsorted(times, steps * self._step)
        ends = np.append(starts[1:], len(times))
        starts[0] = 0
        return [
            (step, rows.slice(start, end - start))
            for step, start, end in zip(steps.tolist(), starts.tolist(), ends.tolist(), strict=True)
            if end > start
        ]

    def _cut_unordered(self, rows: pa.Table, times: NDArray[np.int64]) -> Cut:
        newest_so_far = np.maximum.accumulate(times)
        if self.newest is not None:
            newest_so_far = np.maximum(newest_so_far, self.newest)
        steps = times // self._step
        is_behind = steps < newest_so_far // self._step
        if self._lateness is None:
            is_late = is_behind
        else:
            is_late = is_behind & (times < newest_so_far - self._lateness)
        self.newest = int(newest_so_far[-1])
        amended = np.unique(steps[is_behind & ~is_late]).tolist()
        accepted = np.flatnonzero(~is_late)
        steps = steps[accepted]
        order = np.argsort(steps, kind="stable")
        pieces = _pieces(rows.take(accepted[order]), steps[order])
        late = len(times) - len(accepted)
        if not pieces:
            return Cut([], late=late)
        times = times[accepted]
        return Cut(pieces, int(times.min()), int(times.max()), late, tuple(amended))


def _pieces(rows: pa.Table, steps: NDArray[np.int64]) -> list[tuple[int, pa.Table]]:
    """Cut rows where their steps, which ascend, change."""
    if not len(steps):
        return []
    starts = np.flatnonzero(np.concatenate(([True], steps[1:] != steps[:-1])))
    ends = np.append(starts[1:], len(steps))
    return [
        (int(steps[start]), rows.slice(start, end - start))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
