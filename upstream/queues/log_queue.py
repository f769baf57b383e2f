"""What queues have in common that read their stream's log: they take in what arrived when asked.

Nothing happens in such a queue when an update is enqueued. Whenever it is asked anything it
settles: it takes in what it has not read, each update as of its own arrival, and does what fell
due meanwhile, so that the answer is what it would be had it read at once.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable

from ..keys import KeyCell
from ..updates import Key, Update
from .backlog import Backlog, BacklogPlace, Ticket
from .beginning import Beginning, entry_of
from .let_go import LetGo
from .log_feed import LogFeed
from .shared_log import LogEntry
from .stream_queue import StreamQueue

READ_AHEAD = 1_000
"""How much may be unread before a queue that bounds what waits must read."""


class LogQueue(StreamQueue):
    """A queue of updates that stand in a backlog as they arrived."""

    __slots__ = ("_arrived", "_backlog", "_feed", "_let_go")

    _feed: LogFeed
    _let_go: LetGo

    def read(self, key: Key) -> Update | None:
        """Return the key's newest waiting update or None; change nothing. O(its updates)."""
        self._catch_up()
        place = self._find(key)
        return place.newest_waiting() if isinstance(place, BacklogPlace) else None

    def snapshot(self) -> list[Update]:
        """Return all waiting updates; change nothing. O(waiting)."""
        self._catch_up()
        return [ticket.update() for ticket in self._tickets()]

    def waiting_since(self) -> float | None:
        """Return the earliest arrival since which something waits, None if nothing. O(waiting)."""
        self._catch_up()
        waits = (min(ticket.since, ticket.entry.arrival) for ticket in self._tickets())
        return min(waits, default=None)

    def deliver(self, update: Update) -> None:
        """Note that the application has the result of `update`."""
        now = self._catch_up()  # something newer may have arrived
        super().deliver(update)
        self._advance(now)

    # What the stream calls.

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process here, or may be unread."""
        return not self._feed.try_settle() or super().holds(cell)

    @property
    def copies_values(self) -> bool:
        """Whether the queue takes over values: it does."""
        return True

    def settle(self) -> None:
        """Take in what was not read yet."""
        self._feed.settle()

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, as if it arrived now."""
        self._feed.take_one(entry_of(self._stream, cell), now)

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Drop what the queue knows of the key; what waits of it counts as expired."""
        self._feed.try_settle()
        self._advance(now)
        place = self.place_of(cell)
        super().forget_cell(cell, now)
        if place is not None:
            place.close()
        self._advance(now)
        self._let_go.consider(now)  # others may have expired at this very moment

    # What the kinds differ in.

    def _tickets(self) -> Iterable[Ticket]:
        """Return what waits."""
        return self._backlog

    @abstractmethod
    def _take_at(self, entry: LogEntry, now: float) -> None:
        """Take an update that reaches the queue at `now`."""

    @abstractmethod
    def _advance(self, now: float) -> None:
        """Do what fell due by `now`."""

    @abstractmethod
    def _next_due(self) -> float:
        """Return when the queue, which has read all, drops something next; infinity if never."""

    # What they share.

    def _open_log(self, beginning: Beginning, *, age: float | None, at_once: bool) -> None:
        """Begin to read.

        An arrival lets nothing fall due sooner than `age` seconds after it. `at_once` if something
        may be dropped as an update comes.
        """
        stream = self._stream
        self._backlog = Backlog(self._sums)
        self._let_go = LetGo(stream, age=age, next_due=self._read_next_due, settle=self._fall_due)
        now = beginning.now
        age_limit = math.inf if self.time_to_live is None else self.time_to_live
        young = [entry for entry in beginning.entries if entry.arrival > now - age_limit]
        self._rings.add((self._feed,))
        self._feed.open(stream, at_once=at_once, first=young, now=now)
        self._feed.try_settle()

    def _close_log(self) -> None:
        self._feed.close(self._stream)
        self._let_go.close()
        self._backlog = Backlog(self._sums)

    def _catch_up(self) -> float:
        now = self._stream.catch_up()
        self._settle(now)
        return now

    def _settle(self, now: float) -> None:
        """Take in what was not read, and do what fell due by `now`."""
        self._feed.settle()
        self._fall_due(now)

    def _fall_due(self, now: float) -> None:
        """Do what fell due by `now`, having read what can be."""
        self._feed.try_settle()
        self._advance(now)
        self._let_go.consider(now)

    def _read_next_due(self) -> float:
        self._feed.try_settle()
        return self._next_due()

    def _take_over(self, entry: LogEntry, now: float) -> None:
        self._take_at(entry, now)
        self._let_go.consider(now)

    def _place_for(self, entry: LogEntry, now: float) -> BacklogPlace:
        """Return the place of the key of a log entry, which counts from its first one on."""
        place = self.place_of(entry.cell)
        if place is None:
            place = BacklogPlace(entry.cell)
            self._new_place(entry.cell, place)
        assert isinstance(place, BacklogPlace)
        if place.delivered_version < 0:
            self._begin(place, entry.version, now)
        return place

    def _superseded_now(self) -> int:
        return 0

    def _check(self) -> None:
        super()._check()
        self._backlog._check()
