"""What waits in an adaptive queue, and how the queue switches.

At first the queue keeps every update. When more updates wait than its bounds allow, or one waits
too long, it conflates: only the newest update of each key stays, in the key's place, and from then
on newer updates supersede it. When the consumer has caught up, it keeps every update again.

Few waiting keys do not show that the consumer has caught up, because a single hot key never has
more than one waiting update. So the queue keeps a pressure. It starts at the bound, which is also
its maximum. It rises by one for each superseded value and falls by one for each served update that
superseded nothing. It becomes zero when a dequeue finds nothing. The queue stops conflating when
the pressure is below `resume.waiting`, as few updates wait, and none has waited too long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from ...keys import KeyCell, Place
from ...schedulers import Scheduler, Surroundings, Terms
from ...statistics import ProcessingCost
from ...updates import Key, Update
from ..in_process import InProcess, Record
from ..places import QueuePlaces
from ..stream.feed import Feed
from ..stream.listener import Beginning
from ..stream.stream import Stream
from ..waiting import Counts
from .backlog import BacklogPlace, Ticket, sequence_of
from .log_cursor import LogCursor
from .log_waiting import READ_AHEAD, LogWaiting
from .shared_log import LogEntry


class Bounds(NamedTuple):
    """How many updates may wait, and how long."""

    waiting: int
    age: float


class AdaptiveWaiting(LogWaiting):
    """All updates in the order of arrival, or the newest of each key in the scheduler's order."""

    __slots__ = (
        "_adapted_at",
        "_bounds",
        "_cost",
        "_oldest",
        "_pressure",
        "_resume",
        "_scheduler",
        "_switches",
        "is_conflating",
        "late",
        "superseding",
    )

    def __init__(
        self,
        scheduler: Scheduler,
        places: QueuePlaces,
        in_process: InProcess,
        cost: ProcessingCost,
        *,
        bounds: Bounds,
        resume: Bounds,
        time_to_live: float | None,
    ) -> None:
        cursor = LogCursor(self._take_entry, read_ahead=READ_AHEAD)
        super().__init__(places, in_process, cursor, time_to_live=time_to_live)
        self._scheduler = scheduler
        self._cost = cost
        self._bounds = bounds
        self._resume = resume
        self.late = 0
        self.superseding = 0
        """The number of updates that superseded a value when they arrived."""
        self.is_conflating = False
        """Whether newer updates supersede older ones now."""
        self._switches = 0
        self._pressure = 0
        self._oldest: Place | None = None
        self._adapted_at = -math.inf

    # Calls of the stream.

    def terms_for(self, key: Key) -> Terms:
        """Return the scheduler's options for a new key; raise if they are invalid."""
        return self._scheduler.terms_for(key)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note a new key; `terms` is what `terms_for` returned for it."""
        self._scheduler.welcome(cell, terms)

    # Joining and leaving a stream.

    def check_can_join(self, stream: Stream) -> None:
        """Ask for the processing cost if it is needed; this may fail."""
        self._ask()

    def _ask(self) -> None:
        """Ask for the processing cost if keys need it when they start to wait; this may fail."""
        if self._scheduler.asks_cost:
            self._cost.ask()

    def catch_up(self) -> float:
        """Read the unread arrivals, do what is due, and return the time."""
        self._ask()
        return super().catch_up()

    def listen(self, feed: Feed, beginning: Beginning) -> None:
        """Start to read the log."""
        self._feed = feed
        self._scheduler.bind(
            Surroundings(rates=feed.rates, cost=self._cost, place_of=self._places.find)
        )
        age = self._bounds.age
        if self.time_to_live is not None:
            age = min(age, self.time_to_live)
            feed.watch_age(self.time_to_live, self._expire)
        for cell, terms in beginning.terms.items():
            self.welcome(cell, terms)
        feed.intake.ask_first(self._scheduler, self._cost)
        self._open_log(beginning, age=age, at_once=True)

    def stop_listening(self, now: float) -> None:
        """Stop reading the log, and release what waits."""
        for place in list(self._scheduler):
            self._scheduler.remove(place)
        self._feed.intake.ask_no_more(self._cost)
        self._scheduler.unbind()
        self._close_log()
        if self.time_to_live is not None:
            self._feed.stop_watching_age(self.time_to_live, self._expire)

    # Waiting updates.

    def peek(self, now: float) -> Update | None:
        """Return the update that would be served now, or None."""
        if not self.is_conflating:
            return self._backlog[0].update() if self._backlog else None
        place = self._scheduler.next(now)
        return None if place is None else _only_ticket(place).update()

    def _tickets(self) -> Iterable[Ticket]:
        return map(_only_ticket, self._scheduler) if self.is_conflating else self._backlog

    def __len__(self) -> int:
        return len(self._scheduler) if self.is_conflating else len(self._backlog)

    # Arrivals.

    def _next_due(self) -> float:
        # While the queue conflates, the stream's order of arrival tells what expires.
        if self.is_conflating or not self._backlog:
            return math.inf
        patience = self._backlog[0].since + self._bounds.age
        return min(self._backlog.next_expiry(self.time_to_live), math.nextafter(patience, math.inf))

    def _take(self, entry: LogEntry, now: float) -> None:
        self._arrived += 1
        self.advance(now)
        superseded = self._superseded
        if self.is_conflating and entry.version == 0:
            self.late += 1
            return
        place = self._place_for(entry, now)
        self._backlog.accept(place, entry, now)
        if not self.is_conflating:
            self._backlog.append(place, entry, now)
        elif place.first is None:
            place.open_version = entry.version
            place.waiting_since = now
            self._wait(place, self._backlog.new_ticket(place, entry, now))
        else:
            self._supersede(place.first)
            self._pressure = min(self._pressure + 1, self._bounds.waiting)
            place.open_version = entry.version
            place.first = place.last = self._backlog.new_ticket(place, entry, _since(place))
        self.advance(now)
        self.superseding += self._superseded > superseded

    # Switching.

    def advance(self, now: float) -> None:
        """Do what is due by `now`, and switch if it is time."""
        if self.is_conflating:
            if self._pressure <= self._resume.waiting and self._keeps_up(now):
                self._end_conflating()
        elif self._outlasts_patience(now):
            self._begin_conflating(max(self._backlog[0].since + self._bounds.age, self._adapted_at))
        elif len(self._backlog) > self._bounds.waiting:
            self._begin_conflating(now)
        self._adapted_at = max(now, self._adapted_at)

    def _expire(self, cell: KeyCell, due: float) -> None:
        """Drop the waiting update of a key, whose `time_to_live` ended at `due`."""
        self.cursor.try_settle()
        self.advance(due)
        place = self._places.find(cell)
        if self.is_conflating and place is not None and place.waiting_since is not None:
            self.drop_waiting(place, due)
            self.advance(due)
        self._departures.tell(due)

    def _outlasts_patience(self, now: float) -> bool:
        """Drop what has expired by `now`, until an update has waited too long; then return True."""
        backlog = self._backlog
        while backlog:
            expiry = backlog.next_expiry(self.time_to_live)
            patience = backlog[0].since + self._bounds.age
            if patience < min(expiry, now):
                return True
            if expiry > now:
                return False
            self._departures.add(backlog.drop(0, expiry).place)
            self._expired += 1
        return False

    def _keeps_up(self, now: float) -> bool:
        waiting = len(self._scheduler)
        if waiting > self._resume.waiting:
            return False
        if self._resume.age == math.inf:
            return True
        patience = self._resume.age
        oldest = self._oldest  # the result of the last search; usually it is still too old
        if oldest is None or oldest.waiting_since is None or now - _since(oldest) <= patience:
            oldest = self._oldest = min(self._scheduler, key=_since, default=None)
        return oldest is None or now - _since(oldest) <= patience

    def _begin_conflating(self, now: float) -> None:
        self.is_conflating = True
        self._switches += 1
        self._pressure = self._bounds.waiting
        newest: dict[BacklogPlace, Ticket] = {}
        for ticket in self._backlog.take_all():
            place = ticket.place
            other = newest.setdefault(place, ticket)
            if other is not ticket:
                older, newer = sorted((other, ticket), key=_age_rank)
                newest[place] = newer
                self._supersede(older)
        # By the start of their waits; an earlier switch may have made this order differ.
        for place, ticket in sorted(newest.items(), key=_start_of_wait):
            if 0 < ticket.entry.version == place.newest_version:
                self._wait(place, ticket)
            else:
                self._supersede(ticket)
                self._sums.wait_ends(place, now)
                place.first = place.last = place.waiting_since = None
                self._departures.add(place)

    def _end_conflating(self) -> None:
        self.is_conflating = False
        self._switches += 1
        places = list(self._scheduler)
        for place in places:
            self._scheduler.remove(place)
        self._backlog.refill(sorted(map(_only_ticket, places), key=sequence_of))

    def _supersede(self, ticket: Ticket) -> None:
        self._superseded += 1
        self._backlog.close(ticket.place, ticket.entry.version)
        ticket.close()

    def _wait(self, place: BacklogPlace, ticket: Ticket) -> None:
        """Let a key, whose `waiting_since` is set, wait for the scheduler with only this update."""
        ticket.close()
        ticket.since = _since(place)
        place.first = place.last = ticket
        place.version_before = ticket.entry.version - 1
        self._scheduler.schedule(place)

    # Serving.

    def serve_next(self, now: float) -> Update | None:
        """Dequeue one update."""
        self._ask()
        self._settle_until(now)
        ticket = self._take_next(now)
        update = None if ticket is None else self._in_process.add(ticket.record(now), now, self)
        self.advance(now)
        self._departures.tell(now)
        return update

    def _take_next(self, now: float) -> Ticket | None:
        """Remove and return the ticket to serve next."""
        if not self.is_conflating:
            return self._backlog.pop(now) if self._backlog else None
        place = self._scheduler.take(now)
        if place is None:
            self._pressure = 0
            return None
        ticket = self._end_wait(place, now)
        if ticket.entry.version == place.version_before + 1:
            self._pressure = max(self._pressure - 1, 0)
        return ticket

    def _end_wait(self, place: Place, now: float) -> Ticket:
        ticket = _only_ticket(place)
        self._sums.wait_ends(place, now)
        ticket.place.first = ticket.place.last = place.waiting_since = None
        return ticket

    def drop_waiting(self, place: Place, now: float) -> None:
        """Drop the waiting updates of a key, if any, and count them as expired."""
        assert isinstance(place, BacklogPlace)
        if not self.is_conflating:
            self._expired += self._backlog.drop_key(place, now)
        elif place.waiting_since is not None:
            self._scheduler.remove(place)
            ticket = self._end_wait(place, now)
            self._backlog.close(place, ticket.entry.version)
            self._departures.add(ticket.place)
            self._expired += 1

    def restore(self, record: Record, now: float) -> None:
        """Let an update that was given back wait again, or count why it does not."""
        self._ask()
        self._settle_until(now)
        _, place, version, arrival, _, _ = record
        assert isinstance(place, BacklogPlace)
        if place.delivered_version in (Place.FORGOTTEN, Place.UNCOUNTED):
            self._superseded += 1
        elif self.is_conflating and not 0 < version == place.newest_version:
            self._superseded += 1
            self._backlog.close(place, version)
        elif self.time_to_live is not None and arrival + self.time_to_live <= now:
            self._backlog.close(place, version)
            self._expired += 1
        elif not self.is_conflating:
            self._backlog.restore(record, now)
        else:
            since = self._sums.start_of_wait(place, arrival)
            place.first = place.last = Ticket.of(record, since)
            place.version_before = version - 1
            self._sums.wait_resumes(place, since, now)
            self._scheduler.restore(place)
        self.advance(now)
        self._departures.tell(now)
        self._departures.reconsider()

    def counts_so_far(self) -> Counts:
        """Return the counters so far."""
        without_room = self._without_room()
        return Counts(
            arrived=self._arrived + without_room,
            late=self.late,
            rejected=without_room,
            superseded=self._superseded,
            expired=self._expired,
            switches=self._switches,
        )

    def _check(self) -> None:
        super()._check()
        self._scheduler._check()
        assert not (self.is_conflating and self._backlog), "updates wait outside the scheduler"
        assert self.is_conflating or not self._scheduler, "keys wait outside the backlog"
        for place in self._scheduler:
            assert _only_ticket(place).next is None


def _only_ticket(place: Place) -> Ticket:
    assert isinstance(place, BacklogPlace) and place.first is not None
    return place.first


def _since(place: Place) -> float:
    assert place.waiting_since is not None
    return place.waiting_since


def _start_of_wait(place_and_ticket: tuple[BacklogPlace, Ticket]) -> float:
    return _since(place_and_ticket[0])


def _age_rank(ticket: Ticket) -> tuple[int, int]:
    return ticket.entry.version, ticket.sequence
