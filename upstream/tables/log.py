"""The log of a stream: the batches that some reader has not read yet.

A batch is stored once, however many queries read the stream. Each query has a reader with its own
position. What all readers have passed is removed, and a log without readers keeps nothing
(DataCell, section 2).

A deletion of keys is stored beside the batches, with the number of rows that arrived before it. So
the numbers of rows, and readers that read rows only, know nothing of deletions. A reader that
follows deletions has a second position, among the deletions. It is the same for punctuations, which
mark the end of an epoch.

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
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..errors import PositionNotKeptError
from .log_entries import LogEntries

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

    @property
    def size(self) -> int:
        """How much it counts among the stored rows: its keys."""
        return int(self.keys.num_rows)


@dataclass(frozen=True, slots=True)
class Punctuation:
    """The mark that ends the open chunk of each `epochs` over the stream."""

    arrival: float
    at: int
    """How many rows arrived before it; a batch ends there."""
    number: int
    """How many punctuations arrived before it."""
    size: int = 1
    """How much it counts among the stored rows."""


Stored: TypeAlias = Batch | Deletion | Punctuation


class Seen(NamedTuple):
    """How many rows, deletions and punctuations readers see."""

    rows: int
    deletions: int
    punctuations: int


class Moment:
    """What is seen of logs for as long as this object exists; nothing keeps it but the reading."""

    __slots__ = ("__weakref__",)


class Log:
    """The batches of one stream, and what came beside them, that its readers have not read yet."""

    __slots__ = (
        "_arrival",
        "_deletions",
        "_first",
        "_held",
        "_identity",
        "_numbered",
        "_punctuations",
        "_readers",
        "batches",
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
        self._deletions = LogEntries[Deletion]()
        self._punctuations = LogEntries[Punctuation]()
        self._held: tuple[weakref.ref[Moment], Seen] | None = None
        """The moment that readers see, with what there was then, or None."""
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
    def deletions(self) -> list[Deletion]:
        """The stored deletions; they are read and changed under the lock."""
        return self._deletions.stored

    @property
    def deleted(self) -> int:
        """How many deletions have ever arrived."""
        return self._deletions.came

    @property
    def punctuations(self) -> list[Punctuation]:
        """The stored punctuations; they are read and changed under the lock."""
        return self._punctuations.stored

    @property
    def punctuated(self) -> int:
        """How many punctuations have ever arrived."""
        return self._punctuations.came

    @property
    def stored_rows(self) -> int:
        """How many rows, deleted keys and punctuations are stored.

        Another thread may be changing that.
        """
        return self.rows - self._first + self._deletions.size + self._punctuations.size

    @property
    def stored_pieces(self) -> int:
        """How many batches, deletions and punctuations are stored."""
        return len(self.batches) + len(self.deletions) + len(self.punctuations)

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
            self._deletions.add(
                lambda number: Deletion(keys, self._arrival, self.rows, number),
                (reader.deletions for reader in self._readers),
            )

    def punctuate(self, arrival: float) -> None:
        """Add a punctuation if there are readers that follow punctuations."""
        with self.lock:
            self._arrival = max(arrival, self._arrival)
            self._punctuations.add(
                lambda number: Punctuation(self._arrival, self.rows, number),
                (reader.punctuations for reader in self._readers),
            )

    def hold(self, moment: Moment) -> None:
        """Let readers see nothing that arrives from now on, as long as the moment exists.

        So several readers of one log read the same rows, whatever other threads append meanwhile.
        """
        with self.lock:
            self._held = weakref.ref(moment), self._now()

    def release(self) -> None:
        """Let readers see everything."""
        self._held = None

    @property
    def seen(self) -> Seen:
        """How much readers see."""
        held = self._held
        return self._now() if held is None or held[0]() is None else held[1]

    @property
    def rows_seen(self) -> int:
        """How many rows readers see."""
        return self.rows if self._held is None else self.seen.rows

    def _now(self) -> Seen:
        return Seen(self.rows, self._deletions.came, self._punctuations.came)

    def reader(
        self,
        position: int | None = None,
        *,
        follows_deletions: bool = False,
        deletions: int | None = None,
        follows_punctuations: bool = False,
    ) -> LogReader:
        """Return a new reader for what arrives from now on, or from a saved position on.

        Deletions are followed from now on, or from the one with the number `deletions`;
        punctuations from now on. Raises PositionNotKeptError if what follows there was removed, or
        has not arrived yet.
        """
        with self.lock:
            first = self._first
            if position is None:
                position = self.rows
            elif not first <= position <= self.rows:
                raise PositionNotKeptError(position, first=first, end=self.rows)
            if deletions is None:
                deletions = self.deleted if follows_deletions else None
            elif not self._deletions.first <= deletions <= self.deleted:
                first = self.deletions[0].at if self.deletions else self.rows
                raise PositionNotKeptError(position, first=first, end=self.rows)
            punctuations = self._punctuations.came if follows_punctuations else None
            reader = LogReader(self, position, deletions, punctuations)
            self._readers.append(reader)
            return reader

    def beside(self, reader: LogReader) -> LogReader:
        """Return another reader at the place of this one."""
        with self.lock:
            other = LogReader(self, reader.position, reader.deletions, reader.punctuations)
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
                self._deletions.trim(reader.deletions for reader in self._readers)
            if self.punctuations:
                self._punctuations.trim(reader.punctuations for reader in self._readers)

    def deletions_after(self, row: int) -> int | None:
        """Return the number of the first deletion that came when this row had not arrived yet.

        None if it may have been removed.
        """
        with self.lock:
            return self._deletions.number_after(row)

    def deletions_for(self, reader: LogReader) -> list[Deletion]:
        """Return the deletions that wait for a reader; the lock is held for it."""
        return self._deletions.between(reader.deletions, self.seen.deletions)

    def punctuations_for(self, reader: LogReader) -> list[Punctuation]:
        """Return the punctuations that wait for a reader; the lock is held for it."""
        return self._punctuations.between(reader.punctuations, self.seen.punctuations)

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
    is the number of the next deletion, or None if the reader does not follow deletions; and
    `punctuations` likewise.
    """

    __slots__ = ("_log", "deletions", "is_paused", "origin", "position", "punctuations")

    def __init__(
        self,
        log: Log,
        position: int,
        deletions: int | None = None,
        punctuations: int | None = None,
    ) -> None:
        self._log = log
        self.origin = self.position = position
        self.deletions = deletions
        self.punctuations = punctuations
        self.is_paused = False
        """Whether its query reads no more of it until other streams have caught up."""

    @property
    def follows_deletions(self) -> bool:
        """Whether this reader reads deletions besides rows."""
        return self.deletions is not None

    @property
    def waiting(self) -> int:
        """How many rows, deletions and punctuations can be read; none while it is paused."""
        if self.is_paused:
            return 0
        if self.deletions is None and self.punctuations is None:
            waiting = self._log.rows_seen - self.position  # as each query asks often
            return waiting if waiting > 0 else 0
        rows, deletions, punctuations = self._log.seen
        waiting = max(0, rows - self.position)
        if self.deletions is not None:
            waiting += deletions - self.deletions
        if self.punctuations is not None:
            waiting += punctuations - self.punctuations
        return waiting

    @property
    def waiting_rows(self) -> int:
        """How many rows wait for this reader."""
        return max(0, self._log.rows_seen - self.position)

    @property
    def waiting_batches(self) -> int:
        """How many batches, deletions and punctuations that it follows wait for this reader."""
        with self._log.lock:
            first, end = self._places()
            followed = len(self._log.deletions_for(self)) + len(self._log.punctuations_for(self))
            return max(0, end - first) + followed

    def peek(self) -> list[Batch]:
        """Return the waiting batches without taking them; the first may be cut."""
        with self._log.lock:
            return self._batches()

    def peek_all(self) -> list[Batch | Deletion]:
        """Return the waiting batches and followed deletions in the order of their arrival."""
        with self._log.lock:
            batches, deletions = self._batches(), self._log.deletions_for(self)
        # `sorted` is stable, so a deletion comes before the rows behind it
        return sorted([*deletions, *batches], key=_place) if deletions else [*batches]

    def peek_punctuated(self) -> list[Batch | Punctuation]:
        """Return the waiting batches and followed punctuations in the order of their arrival."""
        with self._log.lock:
            batches, punctuations = self._batches(), self._log.punctuations_for(self)
        return sorted([*punctuations, *batches], key=_place) if punctuations else [*batches]

    def _places(self) -> tuple[int, int]:
        """Return the place of the first waiting batch, and the place behind the last one."""
        return self._log.place_of(self.position), self._log.place_of(self._log.rows_seen)

    def _batches(self) -> list[Batch]:
        first, end = self._places()
        batches = self._log.batches[first:end]
        if batches and batches[0].first < self.position:
            cut = batches[0]
            rows = cut.rows.slice(self.position - cut.first)
            batches[0] = Batch(rows, cut.arrival, self.position, cut.end, cut.number)
        return batches

    def first_waiting(self) -> float | None:
        """Return the arrival of what waits first, or None."""
        with self._log.lock:
            first, end = self._places()
            waiting: list[Stored] = [*self._log.batches[first : min(first + 1, end)]]
            waiting += self._log.deletions_for(self)[:1]
            waiting += self._log.punctuations_for(self)[:1]
        return min((each.arrival for each in waiting), default=None)

    def take(self, rows: int, deletions: int = 0, punctuations: int = 0) -> None:
        """Take rows, deletions and punctuations, which need not be kept for this reader."""
        assert rows <= self.waiting_rows
        self.position += rows
        if self.deletions is not None:
            assert self.deletions + deletions <= self._log.deleted
            self.deletions += deletions
        if self.punctuations is not None:
            assert self.punctuations + punctuations <= self._log.punctuated
            self.punctuations += punctuations
        self._log.trim()

    def skip_to(self, position: int) -> None:
        """Read no rows before a position, which may be ahead of all rows that have arrived."""
        assert position >= self.position
        self.origin = self.position = position
        self._log.trim()

    def fork(self) -> LogReader:
        """Return another reader at the same place."""
        return self._log.beside(self)

    def close(self) -> None:
        """Stop reading."""
        self._log.leave(self)


def _place(waiting: Stored) -> int:
    """Return how many rows arrived before."""
    return waiting.first if isinstance(waiting, Batch) else waiting.at
