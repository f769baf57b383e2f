"""The log of a stream: batches that came and that some reader has yet to read.

A batch is stored once, however many queries read the stream; each has a reader with a position of
its own. What all readers have passed is let go, and a log without readers keeps nothing (DataCell,
section 2).

Any thread may add while others read. The lock is held while lists are changed and positions looked
up, and never while rows are looked at. Each reader belongs to one thread at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from threading import Lock
from typing import TYPE_CHECKING

from ..errors import PositionNotKeptError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that came together: the arrival of all of them, and the number of the first."""

    rows: pa.Table
    arrival: float
    first: int
    number: int
    """How many batches came before this one."""

    @property
    def end(self) -> int:
        """The number of the row after the last one."""
        return self.first + int(self.rows.num_rows)


class Log:
    """The batches of one stream that its readers have not read yet."""

    __slots__ = ("_arrival", "_batches", "_first", "_lock", "_readers", "batches", "rows")

    def __init__(self) -> None:
        self._lock = Lock()
        self._batches: list[Batch] = []
        self._readers: list[LogReader] = []
        self._arrival = -inf
        self._first = 0
        """The number of the first row that is stored, or of the next if none is."""
        self.batches = 0
        """How many batches ever came."""
        self.rows = 0
        """How many rows ever came."""

    @property
    def stored_rows(self) -> int:
        """How many rows are in the log, as far as another thread does not just change that."""
        return self.rows - self._first

    @property
    def stored_batches(self) -> int:
        """How many batches are in the log."""
        return len(self._batches)

    def add(self, rows: pa.Table, arrival: float) -> None:
        """Add a batch, if there are readers. No batch arrives before the one that was added last.

        Two threads may read the clock in one order and add their batches in the other.
        """
        if not rows.num_rows:
            return
        with self._lock:
            self._arrival = max(arrival, self._arrival)
            batch = Batch(rows, self._arrival, self.rows, self.batches)
            if self._readers:
                self._batches.append(batch)
            else:
                self._first = batch.end
            self.rows, self.batches = batch.end, self.batches + 1

    def reader(self, position: int | None = None) -> LogReader:
        """Return a new reader, of what comes from now on, or from a position on that was saved.

        PositionNotKeptError if rows from there on were let go, or have never come.
        """
        with self._lock:
            first = self._first
            if position is None:
                position = self.rows
            elif not first <= position <= self.rows:
                raise PositionNotKeptError(position, first=first, end=self.rows)
            reader = LogReader(self, position)
            self._readers.append(reader)
            return reader

    def batches_from(self, row: int) -> Iterator[Batch]:
        """Return what came from the row of this number on, by batch; the first may be cut.

        What came before it is not looked at: a slow reader makes the others no slower.
        """
        with self._lock:
            batches = self._batches[self._place_of(row) :]
        return _cut(batches, row)

    def batch_count_from(self, row: int) -> int:
        """Return in how many stored batches rows from this number on are. O(log batches)."""
        with self._lock:
            return len(self._batches) - self._place_of(row)

    def arrival_of(self, row: int) -> float | None:
        """Return when the row of this number came, if it or a later one is stored."""
        with self._lock:
            at = self._place_of(row)
            return self._batches[at].arrival if at < len(self._batches) else None

    def trim(self) -> None:
        """Let go what every reader has passed."""
        with self._lock:
            needed = min((reader.position for reader in self._readers), default=self.rows)
            if self._batches and needed >= self._batches[0].end:
                del self._batches[: bisect_right(self._batches, needed, key=_end_of)]
                self._first = self._batches[0].first if self._batches else self.rows

    def leave(self, reader: LogReader) -> None:
        """Forget a reader."""
        with self._lock:
            self._readers.remove(reader)
        self.trim()

    def _place_of(self, row: int) -> int:
        """Return which batch has the row of this number, or follows it."""
        if self._batches and self._batches[-1].first <= row < self.rows:
            return len(self._batches) - 1  # a reader that keeps up asks for the newest batch
        return bisect_right(self._batches, row, key=_end_of)


def _cut(batches: Sequence[Batch], row: int) -> Iterator[Batch]:
    """Return batches from the row of this number on."""
    for batch in batches:
        if batch.first < row:
            rows = batch.rows.slice(row - batch.first)
            yield Batch(rows, batch.arrival, row, batch.number)
        else:
            yield batch


def _end_of(batch: Batch) -> int:
    return batch.end


class LogReader:
    """One query's place in a log; its `position` can be saved, and a reader opened there again."""

    __slots__ = ("_log", "origin", "position")

    def __init__(self, log: Log, position: int) -> None:
        self._log = log
        self.origin = self.position = position

    @property
    def waiting(self) -> int:
        """How many rows are there that were not taken."""
        return self._log.rows - self.position

    @property
    def waiting_batches(self) -> int:
        """In how many batches they are. O(log batches)."""
        return self._log.batch_count_from(self.position)

    def peek(self) -> Iterator[Batch]:
        """Return the batches that were not taken, and leave them."""
        return self._log.batches_from(self.position)

    def peek_rows(self) -> pa.Table | None:
        """Return everything that was not taken as one table, and leave it; None for no rows."""
        import pyarrow as pa

        tables = [batch.rows for batch in self.peek()]
        return pa.concat_tables(tables) if tables else None

    def first_waiting(self) -> float | None:
        """Return the arrival of the first row that was not taken. O(log batches)."""
        return self._log.arrival_of(self.position)

    def take(self, rows: int) -> None:
        """Take so many rows: they need not be kept for this reader."""
        assert rows <= self.waiting
        self.position += rows
        self._log.trim()

    def close(self) -> None:
        """Read no more."""
        self._log.leave(self)
