"""What waits in queues that read their stream's log.

An enqueue does nothing in such a queue. Whenever the queue is called, it first settles: it reads
the unread entries, each as of its own arrival, and does what became due in between. So its answers
are the same as if it had read each entry at once.
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
from ..in_process import InProcess
from ..places import QueuePlaces
from .backlog import Backlog, BacklogPlace, Ticket
from .departures import Departures
from .log_cursor import LogCursor
from .shared_log import LogEntry

if TYPE_CHECKING:
    from ..stream.feed import Feed
    from ..stream.listener import Beginning
    from ..stream.stream import Stream

READ_AHEAD = 1_000
"""How many entries may be unread in a queue that bounds what waits."""


class LogWaiting(ABC):
    """Waiting updates in a backlog, in the order of arrival."""

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

    # Calls of the stream.

    copies_values = True

    def terms_for(self, key: Key) -> Terms:
        """Return None, because there are no options for keys."""
        return None

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Do nothing, because a key gets its place with its first update."""
        return

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits, is in process, or may be unread."""
        return not self.cursor.try_settle() or self._places.holds(cell)

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and is not forgotten."""
        return self._places.has_arrived(cell)

    def settle(self) -> None:
        """Read the unread entries."""
        self.cursor.settle()

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, as if it had arrived now."""
        self.cursor.take_one(self._feed.entry_of(cell), now)

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget what the queue knows of the key. Waiting updates count as expired."""
        self.cursor.try_settle()
        self.advance(now)
        place = self._places.find(cell)
        if place is not None:
            self.drop_waiting(place, now)
            self._places.forget(place, now)
            self._in_process.orphans += place.in_process
            place.close()
        self.advance(now)
        self._departures.tell(now)  # other updates may have expired at this moment

    # The differences between the kinds, as far as they matter here. `Waiting` lists the others.

    @abstractmethod
    def drop_waiting(self, place: Place, now: float) -> None:
        """Drop the waiting updates of a key, if any, and count them as expired."""

    @abstractmethod
    def advance(self, now: float) -> None:
        """Do what is due by `now`."""

    @abstractmethod
    def _take(self, entry: LogEntry, now: float) -> None:
        """Process an update that arrives at the queue at `now`."""

    @abstractmethod
    def _next_due(self) -> float:
        """Return when the queue drops an update next, if it has read all; infinity if never."""

    def _tickets(self) -> Iterable[Ticket]:
        """Return the waiting tickets."""
        return self._backlog

    # What the kinds share.

    def check_can_join(self, stream: Stream) -> None:
        """Do nothing, because the queue can join any stream."""
        return

    def read(self, place: Place | None) -> Update | None:
        """Return the newest waiting update of a key, or None. O(its updates)."""
        return place.newest_waiting() if isinstance(place, BacklogPlace) else None

    def snapshot(self) -> list[Update]:
        """Return all waiting updates."""
        return [ticket.update() for ticket in self._tickets()]

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of a waiting update, or None. O(waiting)."""
        waits = (min(ticket.since, ticket.entry.arrival) for ticket in self._tickets())
        return min(waits, default=None)

    def __len__(self) -> int:
        return len(self._backlog)

    def catch_up(self) -> float:
        """Read the unread arrivals, do what is due, and return the time."""
        now = self._feed.catch_up()
        self._settle_until(now)
        return now

    def release(self) -> None:
        """Release the references that lead back to the queue's parts, which are no longer used."""
        self.cursor.release()
        with suppress(AttributeError):  # if it was never opened
            del self._departures, self._feed

    def _open_log(self, beginning: Beginning, *, age: float | None, at_once: bool) -> None:
        """Start to read the log.

        An arrival makes nothing due sooner than `age` seconds after it. `at_once` says whether the
        queue may drop something when an update arrives.
        """
        feed = self._feed
        self._without_room_before = feed.intake.rejected
        self._backlog = Backlog(self._sums)
        self._departures = Departures(
            feed, age=age, next_due=self._read_next_due, fall_due=self._fall_due
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
        """Read the unread entries, and do what is due by `now`."""
        self.cursor.settle()
        self._fall_due(now)

    def _fall_due(self, now: float) -> None:
        """Read what can be read, and do what is due by `now`."""
        self.cursor.try_settle()
        self.advance(now)
        self._departures.tell(now)

    def _read_next_due(self) -> float:
        self.cursor.try_settle()
        return self._next_due()

    def _take_entry(self, entry: LogEntry, now: float) -> None:
        """Process an entry of the log."""
        self._take(entry, now)
        self._departures.tell(now)

    def _place_for(self, entry: LogEntry, now: float) -> BacklogPlace:
        """Return the place of the key of an entry. The key counts from its first entry."""
        place = self._places.find(entry.cell)
        if place is None:
            place = BacklogPlace(entry.cell)
            self._places.put(entry.cell, place)
        assert isinstance(place, BacklogPlace)
        if place.delivered_version < 0:
            self._sums.begin(place, entry.version, now)
        return place

    def _without_room(self) -> int:
        """Return how many updates found the stream's page pool full and so did not arrive here."""
        return self._feed.intake.rejected - self._without_room_before

    def _check(self) -> None:
        self._backlog._check()
