"""The log of a stream: the batches that some reader has not read yet.

A batch is stored once, however many queries read the stream. Each query has a reader with its own
position. What all readers have passed is removed, and a log without readers keeps nothing
(DataCell, section 2).

A deletion of keys is stored beside the batches, with the number of rows that arrived before it. So
the numbers of rows, and readers that read rows only, know nothing of deletions. A reader that
follows deletions has a second position, among the deletions.

Any thread may add while others read. The lock is held while lists are changed and positions are
looked up, and never while rows are read. Each reader belongs to one thread at a time.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING

from ..errors import PositionNotKeptError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that arrived together: their common arrival, and their numbers `[first, end)`."""

    rows: pa.Table
    arrival: float
    first: int
    end: int
    number: int
    """How many batches arrived before this one."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """Keys that were deleted together."""

    keys: pa.Table
    """The key columns; no columns if the stream has no key, and with it only one key."""
    arrival: float
    at: int
    """How many rows arrived before it; a batch ends there."""
    number: int
    """How many deletions arrived before it."""


class Moment:
    """What is seen of logs for as long as this object exists; nothing keeps it but the reading."""

    __slots__ = ("__weakref__",)


class Log:
    """The batches and the deletions of one stream that its readers have not read yet."""

    __slots__ = (
        "_arrival",
        "_deleted_keys",
        "_first",
        "_held",
        "_identity",
        "_numbered",
        "_readers",
        "batches",
        "deleted",
        "deletions",
        "lock",
        "origin",
        "rows",
    )

    def __init__(self) -> None:
        self.lock = Lock()
        self.batches: list[Batch] = []
        """The stored batches; they are read and changed under the lock."""
        self._readers: list[LogReader] = []
        self._arrival = -inf
        self._numbered = 0
        """How many batches have ever arrived."""
        self._first = 0
        """The number of the first stored row, or of the next row if none is stored."""
        self.rows = 0
        """How many rows have ever arrived."""
        self.deletions: list[Deletion] = []
        """The stored deletions; they are read and changed under the lock."""
        self.deleted = 0
        """How many deletions have ever arrived."""
        self._deleted_keys = 0
        """How many keys the stored deletions have."""
        self._held: tuple[weakref.ref[Moment], int, int] | None = None
        """The moment that readers see, with the rows and deletions that there were, or None."""
        self._identity = ""
        self.origin: int | None = None
        """How many rows of the stream another engine received before the first one here. None if
        no restored view has said so."""

    @property
    def identity(self) -> str:
        """What tells this log from any other one, in other processes too."""
        with self.lock:
            self._identity = self._identity or token_hex(16)
            return self._identity

    @property
    def stored_rows(self) -> int:
        """How many rows and deleted keys are stored, unless another thread is changing that."""
        return self.rows - self._first + self._deleted_keys

    def add(self, rows: pa.Table, arrival: float) -> None:
        """Add a batch if there are readers. Its arrival is never before that of the last batch.

        Two threads may read the clock in one order and add their batches in the other.
        """
        if not rows.num_rows:
            return
        with self.lock:
            self._arrival = max(arrival, self._arrival)
            end = self.rows + int(rows.num_rows)
            if self._readers:
                self.batches.append(Batch(rows, self._arrival, self.rows, end, self._numbered))
            else:
                self._first = end
            self.rows, self._numbered = end, self._numbered + 1

    def delete(self, keys: pa.Table, arrival: float) -> None:
        """Add a deletion if there are readers that follow deletions."""
        with self.lock:
            self._arrival = max(arrival, self._arrival)
            if any(reader.follows_deletions for reader in self._readers):
                self.deletions.append(Deletion(keys, self._arrival, self.rows, self.deleted))
                self._deleted_keys += int(keys.num_rows)
            self.deleted += 1

    def hold(self, moment: Moment) -> None:
        """Let readers see nothing that arrives from now on, as long as the moment exists.

        So several readers of one log read the same rows, whatever other threads append meanwhile.
        """
        with self.lock:
            self._held = weakref.ref(moment), self.rows, self.deleted

    def release(self) -> None:
        """Let readers see everything."""
        self._held = None

    @property
    def seen(self) -> tuple[int, int]:
        """How many rows and deletions readers see."""
        held = self._held
        if held is None or held[0]() is None:
            return self.rows, self.deleted
        return held[1:]

    def reader(
        self,
        position: int | None = None,
        *,
        follows_deletions: bool = False,
        deletions: int | None = None,
    ) -> LogReader:
        """Return a new reader for what arrives from now on, or from a saved position on.

        Deletions are followed from now on, or from the one with the number `deletions`. Raises
        PositionNotKeptError if what follows there was removed, or has not arrived yet.
        """
        with self.lock:
            first = self._first
            if position is None:
                position = self.rows
            elif not first <= position <= self.rows:
                raise PositionNotKeptError(position, first=first, end=self.rows)
            if deletions is None:
                deletions = self.deleted if follows_deletions else None
            elif not self._first_deletion() <= deletions <= self.deleted:
                first = self.deletions[0].at if self.deletions else self.rows
                raise PositionNotKeptError(position, first=first, end=self.rows)
            reader = LogReader(self, position, deletions)
            self._readers.append(reader)
            return reader

    def beside(self, reader: LogReader) -> LogReader:
        """Return another reader at the place of this one."""
        with self.lock:
            other = LogReader(self, reader.position, reader.deletions)
            self._readers.append(other)
            return other

    def trim(self) -> None:
        """Remove what every reader has passed."""
        with self.lock:
            needed = min((reader.position for reader in self._readers), default=self.rows)
            passed = self.place_of(needed)
            if passed:
                del self.batches[:passed]
                self._first = self.batches[0].first if self.batches else self.rows
            if self.deletions:
                passed = self._first_followed() - self.deletions[0].number
                keys = sum(each.keys.num_rows for each in self.deletions[:passed])
                self._deleted_keys -= int(keys)
                del self.deletions[:passed]

    def deletions_after(self, row: int) -> int | None:
        """Return the number of the first deletion that came when this row had not arrived yet.

        None if it may have been removed.
        """
        with self.lock:
            stored = self.deletions
            first = self._first_deletion()
            if first and not (stored and stored[0].at < row):
                return None
            return first + sum(each.at < row for each in stored)

    def _first_deletion(self) -> int:
        """Return the number of the first stored deletion, or of the next one if none is stored."""
        return self.deletions[0].number if self.deletions else self.deleted

    def _first_followed(self) -> int:
        """Return the number of the first deletion that some reader has not passed."""
        positions = (reader.deletions for reader in self._readers)
        return min((each for each in positions if each is not None), default=self.deleted)

    def leave(self, reader: LogReader) -> None:
        """Remove a reader."""
        with self.lock:
            self._readers.remove(reader)
        self.trim()

    def place_of(self, row: int) -> int:
        """Return the batch that contains the row of this number, or follows it. O(log batches)."""
        return bisect_right(self.batches, row, key=attrgetter("end"))


class LogReader:
    """One query's place in a log; its `position` can be saved, and a reader opened there again.

    A reader does not look at earlier rows, so a slow reader makes the others no slower. `deletions`
    is the number of the next deletion, or None if the reader does not follow deletions.
    """

    __slots__ = ("_log", "deletions", "origin", "position")

    def __init__(self, log: Log, position: int, deletions: int | None = None) -> None:
        self._log = log
        self.origin = self.position = position
        self.deletions = deletions

    @property
    def follows_deletions(self) -> bool:
        """Whether this reader reads deletions besides rows."""
        return self.deletions is not None

    @property
    def waiting(self) -> int:
        """How many rows, and deletions that it follows, wait for this reader."""
        rows, deletions = self._log.seen
        waiting = rows - self.position
        return waiting if self.deletions is None else waiting + deletions - self.deletions

    @property
    def waiting_rows(self) -> int:
        """How many rows wait for this reader."""
        return self._log.seen[0] - self.position

    @property
    def waiting_batches(self) -> int:
        """How many batches, and deletions that it follows, wait for this reader."""
        with self._log.lock:
            places = map(self._log.place_of, (self.position, self._log.seen[0]))
            first, end = places
            return end - first + len(self._deletions())

    def peek(self) -> list[Batch]:
        """Return the waiting batches without taking them; the first may be cut."""
        with self._log.lock:
            return self._batches()

    def peek_all(self) -> list[Batch | Deletion]:
        """Return the waiting batches and followed deletions in the order of their arrival."""
        with self._log.lock:
            batches, deletions = self._batches(), self._deletions()
        # `sorted` is stable, so a deletion comes before the rows behind it
        return sorted([*deletions, *batches], key=_place) if deletions else [*batches]

    def _batches(self) -> list[Batch]:
        first, end = map(self._log.place_of, (self.position, self._log.seen[0]))
        batches = self._log.batches[first:end]
        if batches and batches[0].first < self.position:
            cut = batches[0]
            rows = cut.rows.slice(self.position - cut.first)
            batches[0] = Batch(rows, cut.arrival, self.position, cut.end, cut.number)
        return batches

    def _deletions(self) -> list[Deletion]:
        stored = self._log.deletions
        if self.deletions is None or not stored:
            return []
        before = stored[0].number
        return stored[self.deletions - before : self._log.seen[1] - before]

    def first_waiting(self) -> float | None:
        """Return the arrival of what waits first, or None."""
        with self._log.lock:
            first, end = map(self._log.place_of, (self.position, self._log.seen[0]))
            waiting: list[Batch | Deletion] = [*self._log.batches[first : min(first + 1, end)]]
            waiting += self._deletions()[:1]
        return min((each.arrival for each in waiting), default=None)

    def take(self, rows: int, deletions: int = 0) -> None:
        """Take a number of rows and of deletions, which need not be kept for this reader."""
        assert rows <= self.waiting_rows
        self.position += rows
        if self.deletions is not None:
            assert self.deletions + deletions <= self._log.deleted
            self.deletions += deletions
        self._log.trim()

    def fork(self) -> LogReader:
        """Return another reader at the same place."""
        return self._log.beside(self)

    def close(self) -> None:
        """Stop reading."""
        self._log.leave(self)


def _place(waiting: Batch | Deletion) -> int:
    """Return how many rows arrived before."""
    return waiting.at if isinstance(waiting, Deletion) else waiting.first
