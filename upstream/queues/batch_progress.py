"""How far a batch is that is being taken in, so that it is finished whatever interrupts it.

Ctrl-C raises KeyboardInterrupt between any two steps. A batch that was interrupted is finished when
its stream is looked at next: what was half done for the row in progress is mended, and that row and
those behind it are taken in. So a row must leave no doubt whether it was taken in: the last line of
its work bumps the version of its key, and counts the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from ..keys import KeyCell, Place
from ..updates import Outcome
from .batch_outcome import BatchOutcome

Start = Callable[[KeyCell, Place | None, float, int], Outcome]

_WAITING = Outcome.WAITING


class BatchProgress:
    """Rows of which none can be rejected, and how many of them were taken in."""

    __slots__ = ("_counted", "accepted", "cells", "late", "now", "times", "values", "waiting")

    def __init__(
        self,
        cells: Sequence[KeyCell],
        values: Sequence[object],
        times: Sequence[float],
        now: float,
        counted: tuple[Sequence[int], int, int] | None = None,
    ) -> None:
        self.cells = cells
        self.values = values
        self.times = times
        self.now = now + 0.0  # a number of its own, by which what this batch has set is known
        self._counted = counted
        """How many updates each row stands for, where it is not one; and how many updates there
        are in all, and how many of them are late, which are in no row then."""
        self.accepted = self.late = self.waiting = 0

    @property
    def total(self) -> int:
        """How many updates there are."""
        return len(self.cells) if self._counted is None else self._counted[1]

    @property
    def total_late(self) -> int:
        """How many of them are late."""
        return self.late if self._counted is None else self._counted[2]

    def outcome(self) -> BatchOutcome:
        """Return what became of them."""
        late = self.total_late
        superseded = self.total - self.waiting - late
        return BatchOutcome(self.waiting, superseded, late, rejected=0)

    def current(self) -> KeyCell | None:
        """Return the key of the row that is to be taken in next, or was when it was interrupted."""
        row = self.accepted + self.late
        return self.cells[row] if row < len(self.cells) else None

    def apply(self, start: Start) -> None:
        """Take in the rows that were not; `start` lets a key wait where it does not."""
        if self._counted is None:
            self._apply_rows(start)
        else:
            self._apply_counted(start, self._counted[0])

    def _apply_rows(self, start: Start) -> None:
        """Take in one row after another: the library's hottest loop."""
        accepted, late, waiting, now = self.accepted, self.late, self.waiting, self.now
        rows = zip(self.cells, self.values, self.times, strict=True)
        try:
            for cell, value, time in islice(rows, accepted + late, None):
                if cell.time <= time:
                    if cell.idle is not None and start(cell, cell.idle, now, 1) is _WAITING:
                        waiting += 1
                    cell.value = value
                    cell.time = time
                    cell.arrival = now
                    cell.version, accepted = cell.version + 1, accepted + 1
                else:
                    late += 1
            self.accepted, self.late, self.waiting = accepted, late, waiting
        except BaseException:
            self.accepted, self.late, self.waiting = accepted, late, waiting
            raise

    def _apply_counted(self, start: Start, counts: Sequence[int]) -> None:
        accepted, waiting, now = self.accepted, self.waiting, self.now
        rows = zip(self.cells, counts, self.values, self.times, strict=True)
        try:
            for cell, count, value, time in islice(rows, accepted, None):
                if cell.idle is not None and start(cell, cell.idle, now, count) is _WAITING:
                    waiting += 1
                cell.value = value
                cell.time = time
                cell.arrival = now
                cell.version, accepted = cell.version + count, accepted + 1
            self.accepted, self.waiting = accepted, waiting
        except BaseException:
            self.accepted, self.waiting = accepted, waiting
            raise
