"""The log of a stream: batches that came and that some standing query has yet to read.

A batch is stored once, however many queries read the stream; each has a reader with a place of its
own. What all readers have passed is let go, and a log that nobody reads keeps nothing (DataCell,
section 2).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that came together: the arrival of all of them, and the number of the first."""

    rows: pa.Table
    arrival: float
    first: int

    @property
    def end(self) -> int:
        """The number of the row after the last one."""
        return self.first + int(self.rows.num_rows)


class Log:
    """The batches of one stream that its readers have not read yet."""

    __slots__ = ("_batches", "_readers", "rows")

    def __init__(self) -> None:
        self._batches: list[Batch] = []
        self._readers: list[LogReader] = []
        self.rows = 0
        """How many rows ever came."""

    @property
    def stored_rows(self) -> int:
        """How many rows are in the log."""
        return self.rows - self._batches[0].first if self._batches else 0

    @property
    def stored_batches(self) -> int:
        """How many batches are in the log."""
        return len(self._batches)

    def add(self, rows: pa.Table, arrival: float) -> None:
        """Add a batch, if somebody reads it."""
        batch = Batch(rows, arrival, self.rows)
        self.rows = batch.end
        if self._readers and rows.num_rows:
            self._batches.append(batch)

    def reader(self) -> LogReader:
        """Return a new reader, of what comes from now on."""
        reader = LogReader(self, self.rows)
        self._readers.append(reader)
        return reader

    def batches_from(self, row: int) -> Iterator[Batch]:
        """Return what came from the row of this number on, by batch; the first may be cut.

        What came before it is not looked at: a slow reader makes the others no slower.
        """
        for batch in self._batches[self._place_of(row) :]:
            if batch.first < row:
                rows = batch.rows.slice(row - batch.first)
                yield Batch(rows, batch.arrival, row)
            else:
                yield batch

    def arrival_of(self, row: int) -> float | None:
        """Return when the row of this number came, if it or a later one is stored."""
        at = self._place_of(row)
        return self._batches[at].arrival if at < len(self._batches) else None

    def _place_of(self, row: int) -> int:
        """Return which batch has the row of this number, or follows it."""
        if self._batches and self._batches[-1].first <= row < self.rows:
            return len(self._batches) - 1  # who keeps up asks for the newest one
        return bisect_right(self._batches, row, key=_end_of)

    def trim(self) -> None:
        """Let go what every reader has passed."""
        needed = min((reader.position for reader in self._readers), default=self.rows)
        if not self._batches or needed < self._batches[0].end:
            return
        passed = bisect_right(self._batches, needed, key=_end_of)
        if passed:
            del self._batches[:passed]

    def leave(self, reader: LogReader) -> None:
        """Forget a reader."""
        self._readers.remove(reader)
        self.trim()


def _end_of(batch: Batch) -> int:
    return batch.end


class LogReader:
    """One query's place in a log."""

    __slots__ = ("_log", "origin", "position")

    def __init__(self, log: Log, position: int) -> None:
        self._log = log
        self.origin = self.position = position

    @property
    def waiting(self) -> int:
        """How many rows are there that were not taken."""
        return self._log.rows - self.position

    def peek(self) -> Iterator[Batch]:
        """Return the batches that were not taken, and leave them."""
        return self._log.batches_from(self.position)

    def first_waiting(self) -> float | None:
        """Return the arrival of the first row that was not taken. O(log batches)."""
        return self._log.arrival_of(self.position)

    def take(self, rows: int) -> None:
        """Take so many rows: they need not be kept for this reader."""
        assert rows <= self.waiting
        self.position += rows
        self._log.trim()

    def take_rows(self) -> pa.Table | None:
        """Take everything, as one table; None if there is nothing."""
        import pyarrow as pa

        if not self.waiting:
            return None
        rows = pa.concat_tables([batch.rows for batch in self.peek()])
        self.take(self.waiting)
        return rows

    def close(self) -> None:
        """Read no more."""
        self._log.leave(self)
