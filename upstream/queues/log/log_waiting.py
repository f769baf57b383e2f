"""What waits in queues that read their stream's log.

Nothing happens in such a queue when an update is enqueued. Whenever it is asked anything, it
settles: it takes what it has not read, each update as of its own arrival, and does what fell due
meanwhile. So the answer is what it would be had it read at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from ...keys import KeyCell, Place
from ...schedulers import Terms
from ...staleness import StalenessSums
from ...updates import Key, Update
from ..in_process import InProcess, Record
from ..places import QueuePlaces
from .backlog import Backlog, BacklogPlace, Ticket
from .departures import Departures
from .log_cursor import LogCursor
from .shared_log import LogEntry

if TYPE_CHECKING:
    from ..stream.beginning import Beginning
    from ..stream.feed import Feed
    from ..stream.stream import Stream
    from ..waiting import Counts

READ_AHEAD = 1_000
"""How much may be unread before a queue that bounds what waits must read."""


class LogWaiting(ABC):
    """Updates that stand in a backlog as they arrived."""

    __slots__ = (
        "_arrived",
        "_backlog",
        "_departures",
        "_expired",
        "_feed",
        "_in_process",
        "_places",
        "_sums",
        "_superseded",
        "_without_room_before",
        "cursor",
        "time_to_live",
    )

    _departures: Departures
    _feed: Feed
    capacity: int | None = None

    def __init__(
        self,
        places: QueuePlaces,
        in_process: InProcess,
        cursor: LogCursor,
        *,
        time_to_live: float | None,
    ) -> None:
        self._places = places
        self._sums: StalenessSums = places.sums
        self._in_process = in_process
        self.cursor = cursor
        """Reads the stream's log."""
        self._backlog = Backlog(self._sums)
        self.time_to_live = time_to_live
        self._arrived = self._superseded = self._expired = self._without_room_before = 0

    # What the stream tells.

    copies_values = True

    def terms_for(self, key: Key) -> Terms:
        """Return what was given for a new key: nothing."""
        return None

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note nothing: a key gets its place with its first update."""
        return

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process here, or may be unread."""
        return not self.cursor.try_settle() or self._places.holds(cell)

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and was not forgotten since."""
        return self._places.has_arrived(cell)

    def settle(self) -> None:
        """Take what was not read yet."""
        self.cursor.settle()

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, as if it arrived now."""
        self.cursor.take_one(self._feed.entry_of(cell), now)

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget what the queue knows of the key. Updates that wait count as expired."""
        self.cursor.try_settle()
        self.advance(now)
        place = self._places.find(cell)
        if place is not None:
            self.drop_waiting(place, now)
            self._places.forget(place, now)
            self._in_process.orphans += place.in_process
            place.close()
        self.advance(now)
        self._departures.tell(now)  # others may have expired at this very moment

    # What the kinds differ in.

    @abstractmethod
    def listen(self, feed: Feed, beginning: Beginning) -> None:
        """Begin to read."""

    @abstractmethod
    def stop_listening(self, now: float) -> None:
        """Read no more, and release what waits."""

    @abstractmethod
    def serve_next(self, now: float) -> Update | None:
        """Dequeue one update."""

    @abstractmethod
    def restore(self, record: Record, now: float) -> None:
        """Let a returned update wait again, or count what else becomes of it."""

    @abstractmethod
    def drop_waiting(self, place: Place, now: float) -> None:
        """Drop what waits of a key, if anything, and count it as expired."""

    @abstractmethod
    def peek(self, now: float) -> Update | None:
        """Return what would be served now, None if nothing."""

    @abstractmethod
    def counts_so_far(self) -> Counts:
        """Return what was counted."""

    @abstractmethod
    def advance(self, now: float) -> None:
        """Do what fell due by `now`."""

    @abstractmethod
    def _take(self, entry: LogEntry, now: float) -> None:
        """Take an update that reaches the queue at `now`."""

    @abstractmethod
    def _next_due(self) -> float:
        """Return when the queue, which has read all, drops something next; infinity if never."""

    def _tickets(self) -> Iterable[Ticket]:
        """Return what waits."""
        return self._backlog

    # What they share.

    def check_can_join(self, stream: Stream) -> None:
        """Raise nothing: the queue can join any stream."""
        return

    def read(self, place: Place | None) -> Update | None:
        """Return the newest update of a key that waits, None if none does. O(its updates)."""
        return place.newest_waiting() if isinstance(place, BacklogPlace) else None

    def snapshot(self) -> list[Update]:
        """Return all updates that wait."""
        return [ticket.update() for ticket in self._tickets()]

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of an update that waits, None if none does. O(waiting)."""
        waits = (min(ticket.since, ticket.entry.arrival) for ticket in self._tickets())
        return min(waits, default=None)

    def __len__(self) -> int:
        return len(self._backlog)

    def catch_up(self) -> float:
        """Take what was not read, do what fell due, and return the time."""
        now = self._feed.catch_up()
        self._settle_until(now)
        return now

    def release(self) -> None:
        """Release what refers back to the queue's parts, since nothing uses them any more."""
        self.cursor.release()
        with suppress(AttributeError):  # if it was never opened
            del self._departures, self._feed

    def _open_log(self, beginning: Beginning, *, age: float | None, at_once: bool) -> None:
        """Begin to read.

        An arrival lets nothing fall due sooner than `age` seconds after it. `at_once` says that
        something may be dropped when an update comes.
        """
        feed = self._feed
        self._without_room_before = feed.intake.rejected
        self._backlog = Backlog(self._sums)
        self._departures = Departures(
            feed, age=age, next_due=self._read_next_due, settle=self._fall_due
        )
        now = beginning.now
        age_limit = math.inf if self.time_to_live is None else self.time_to_live
        young = [entry for entry in beginning.entries if entry.arrival > now - age_limit]
        self.cursor.open(feed, at_once=at_once, first=young, now=now)
        self.cursor.try_settle()
        self._departures.reconsider()

    def _close_log(self) -> None:
        self.cursor.close(self._feed)
        self._departures.close()
        self._backlog = Backlog(self._sums)

    def _settle_until(self, now: float) -> None:
        """Take what was not read, and do what fell due by `now`."""
        self.cursor.settle()
        self._fall_due(now)

    def _fall_due(self, now: float) -> None:
        """Do what fell due by `now`, having read what can be read."""
        self.cursor.try_settle()
        self.advance(now)
        self._departures.tell(now)

    def _read_next_due(self) -> float:
        self.cursor.try_settle()
        return self._next_due()

    def _take_entry(self, entry: LogEntry, now: float) -> None:
        """Take an entry of the log."""
        self._take(entry, now)
        self._departures.tell(now)

    def _place_for(self, entry: LogEntry, now: float) -> BacklogPlace:
        """Return the place of the key of a log entry, which counts from its first one on."""
        place = self._places.find(entry.cell)
        if place is None:
            place = BacklogPlace(entry.cell)
            self._places.put(entry.cell, place)
        assert isinstance(place, BacklogPlace)
        if place.delivered_version < 0:
            self._sums.begin(place, entry.version, now)
        return place

    def _without_room(self) -> int:
        """Return how many updates found the stream's page pool full, and so never came here."""
        return self._feed.intake.rejected - self._without_room_before

    def _check(self) -> None:
        self._backlog._check()
