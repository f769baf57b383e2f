"""The adaptive queue: append while the consumer keeps up, update when it does not (section 8).

It starts by keeping every update. When more wait than `max_waiting`, or one waits longer than
`max_age`, it conflates: of each key only the newest goes on waiting, in the key's place, and from
then on newer updates supersede. It keeps every update again when the consumer has caught up.

That few keys wait does not show that it has, for a single hot key never has more than one waiting.
So the queue keeps a pressure: it starts at `max_waiting`, rises by one (up to there) for each value
superseded, falls by one for each update served that superseded nothing, and is gone when a dequeue
finds nothing. Below `resume_waiting` the queue goes back, if as few wait and none too long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from ..clock import Clock
from ..columns import Column
from ..errors import ParameterError
from ..held_interrupt import uninterrupted
from ..keys import KeyCell, Place
from ..schedulers import Scheduler, StalenessIndexScheduler, Surroundings, Terms
from ..statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey, check_count
from ..updates import Key, Outcome, Update
from .ages import check_age
from .backlog import BacklogPlace, Ticket, sequence_of
from .batch_outcome import BatchOutcome
from .beginning import Beginning
from .in_process import Record
from .log_feed import LogFeed
from .log_queue import READ_AHEAD, LogQueue
from .shared_log import LogEntry
from .stream import Stream
from .stream_queue import DEFAULT_IN_PROCESS_LIMIT, Admit, Welcome


class Bounds(NamedTuple):
    """How much may wait, and how long."""

    waiting: int
    age: float


class AdaptiveQueue(LogQueue):
    """Keep every update while the consumer keeps up, conflate when it does not.

    `max_waiting` and `max_age` (seconds, optional) bound what may wait before the queue conflates;
    it keeps every update again when at most `resume_waiting` wait and none longer than
    `resume_age`, by default half of the bounds. `scheduler` serves the keys while it conflates,
    the staleness index by default; FIFO, which needs the stream's order, cannot, and nor can one
    that holds keys back.

    >>> from upstream import ManualClock
    >>> queue = AdaptiveQueue(max_waiting=2, clock=ManualClock())
    >>> for price in (24.0, 25.0):
    ...     _ = queue.enqueue("IBM", price)
    >>> len(queue), queue.is_conflating
    (2, False)
    >>> queue.enqueue("IBM", 26.0)
    <Outcome.SUPERSEDED: 'superseded'>
    >>> queue.snapshot()[0].value, queue.is_conflating
    (26.0, True)
    """

    __slots__ = (
        "_adapted_at",
        "_bounds",
        "_is_conflating",
        "_late",
        "_oldest",
        "_pressure",
        "_resume",
        "_scheduler",
        "_superseding",
    )

    def __init__(
        self,
        scheduler: Scheduler | None = None,
        *,
        max_waiting: int = 1_000,
        max_age: float | None = None,
        resume_waiting: int | None = None,
        resume_age: float | None = None,
        clock: Clock | None = None,
        time_to_live: float | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        forget_after: float | None = None,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        max_age = check_age("max_age", max_age)
        check_count("max_waiting", max_waiting, least=1)
        check_count("resume_waiting", resume_waiting, least=0, or_none=True)
        resume_age = check_age("resume_age", resume_age)
        self._bounds = Bounds(max_waiting, math.inf if max_age is None else max_age)
        self._resume = Bounds(
            max_waiting // 2 if resume_waiting is None else resume_waiting,
            self._bounds.age / 2 if resume_age is None else resume_age,
        )
        if self._resume.waiting >= self._bounds.waiting:
            raise ParameterError("resume_waiting", resume_waiting, "less than max_waiting")
        if self._resume.age > self._bounds.age:
            raise ParameterError("resume_age", resume_age, "at most max_age")
        self._scheduler = StalenessIndexScheduler() if scheduler is None else scheduler
        if self._scheduler.needs_arrival_order or self._scheduler.holds_back:
            raise ParameterError("scheduler", self._scheduler.name, "any but fifo and paced")
        self._arrived = self._late = 0
        self._superseding = 0  # updates of which the arrival superseded something
        self._is_conflating = False
        self._pressure = 0
        self._oldest: Place | None = None
        self._adapted_at = -math.inf
        self._feed = LogFeed(self._take_over, read_ahead=READ_AHEAD)
        super().__init__(
            Stream(
                clock=clock,
                retain=False,
                rates=rates,
                forgetting=forgetting,
                forget_after=forget_after,
            ),
            time_to_live=time_to_live,
            processing_cost=processing_cost,
            forgetting=forgetting,
            in_process_limit=in_process_limit,
        )

    @property
    def is_conflating(self) -> bool:
        """Whether newer updates supersede older ones at present."""
        self._catch_up()
        return self._is_conflating

    def peek(self) -> Update | None:
        """Return what `dequeue` would hand out now; change nothing."""
        now = self._catch_up()
        if not self._is_conflating:
            return self._backlog[0].update() if self._backlog else None
        place = self._scheduler.next(now)
        return None if place is None else _only_ticket(place).update()

    def __len__(self) -> int:
        """Return how many updates wait."""
        self._catch_up()
        return self._waiting()

    def admit(self, key: Key) -> Terms:
        """Return what was given for a new key; raise if it makes no sense."""
        return self._scheduler.admit(key)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note that a key came in, for which `admit` returned `terms`."""
        self._scheduler.welcome(cell, terms)

    def _tickets(self) -> Iterable[Ticket]:
        return map(_only_ticket, self._scheduler) if self._is_conflating else self._backlog

    def _waiting(self) -> int:
        return len(self._scheduler) if self._is_conflating else len(self._backlog)

    def _admission(self) -> tuple[Admit, Welcome]:
        return self._scheduler.admit, self._scheduler.welcome

    # Its life with its stream.

    def check_is_free(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`; ask for the cost, if that is needed."""
        super().check_is_free(stream)
        self._ask()

    def _ask(self) -> None:
        """Ask for the cost if it is needed as keys start to wait, which may fail."""
        if self._scheduler.asks_cost:
            self._cost.ask()

    def _catch_up(self) -> float:
        self._ask()
        return super()._catch_up()

    def _listen(self, beginning: Beginning) -> None:
        stream = self._stream
        self._scheduler.bind(
            Surroundings(rates=stream.rates, cost=self._cost, place_of=self._column.place_of)
        )
        if self.time_to_live is not None:
            stream.watch_age(self.time_to_live, self._expire)
        age = min(self._bounds.age, math.inf if self.time_to_live is None else self.time_to_live)
        for cell, terms in beginning.terms.items():
            self.welcome(cell, terms)
        if self._scheduler.asks_cost and self._cost.is_told:
            stream.ask_first(self._cost.ask)
        self._open_log(beginning, age=age, at_once=True)

    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue an update of `key`; `time` defaults to the clock's."""
        if self._is_attached:
            return self._stream.enqueue(key, value, time)
        self._catch_up()
        late, superseding = self._late, self._superseding
        self._stream.enqueue(key, value, time)
        self._feed.settle()
        if self._late > late:
            return Outcome.LATE
        return Outcome.SUPERSEDED if self._superseding > superseding else Outcome.WAITING

    @uninterrupted
    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue the rows of three equally long columns; `times` defaults to the clock's."""
        if self._is_attached:
            return self._stream.enqueue_many(keys, values, times)
        self._catch_up()
        late, superseding = self._late, self._superseding
        rows = self._stream.enqueue_many(keys, values, times).waiting
        self._feed.settle()
        late, superseding = self._late - late, self._superseding - superseding
        return BatchOutcome(rows - late - superseding, superseding, late, 0)

    def _stop_listening(self, now: float) -> None:
        for place in list(self._scheduler):
            self._scheduler.remove(place)
        if self._scheduler.asks_cost and self._cost.is_told:
            self._stream.ask_no_more(self._cost.ask)
        self._scheduler.unbind()
        self._close_log()
        if self.time_to_live is not None:
            self._stream.stop_watching_age(self._expire)

    def _expire(self, cell: KeyCell, due: float) -> None:
        """Drop the key's waiting update, which has outlived `time_to_live` at `due`."""
        self._feed.try_settle()
        self._advance(due)
        place = self.place_of(cell)
        if self._is_conflating and place is not None and place.waiting_since is not None:
            self._drop_waiting(place, due)
            self._advance(due)
        self._let_go.consider(due)

    # What arrives.

    def _next_due(self) -> float:
        # While the queue conflates, the stream's order of arrival tells what expires.
        if self._is_conflating or not self._backlog:
            return math.inf
        patience = self._backlog[0].since + self._bounds.age
        return min(self._backlog.next_expiry(self.time_to_live), math.nextafter(patience, math.inf))

    def _take_at(self, entry: LogEntry, now: float) -> None:
        """Take an update that reaches the queue at `now`."""
        self._arrived += 1
        self._advance(now)
        superseded = self._superseded
        if self._is_conflating and entry.version == 0:
            self._late += 1
            return
        place = self._place_for(entry, now)
        self._backlog.accept(place, entry, now)
        if not self._is_conflating:
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
        self._advance(now)
        self._superseding += self._superseded > superseded

    # How it changes its way.

    def _advance(self, now: float) -> None:
        """Do what fell due by `now`, and change the way of queueing if it is time to."""
        if self._is_conflating:
            if self._pressure <= self._resume.waiting and self._keeps_up(now):
                self._end_conflating()
        elif self._outlasts_patience(now):
            self._begin_conflating(max(self._backlog[0].since + self._bounds.age, self._adapted_at))
        elif len(self._backlog) > self._bounds.waiting:
            self._begin_conflating(now)
        self._adapted_at = max(now, self._adapted_at)

    def _outlasts_patience(self, now: float) -> bool:
        """Drop what has expired by `now`; stop, and say so, where one waited for too long."""
        backlog = self._backlog
        while backlog:
            expiry = backlog.next_expiry(self.time_to_live)
            patience = backlog[0].since + self._bounds.age
            if patience < min(expiry, now):
                return True
            if expiry > now:
                return False
            self._let_go.add(backlog.drop(0, expiry).place)
            self._expired += 1
        return False

    def _keeps_up(self, now: float) -> bool:
        waiting = len(self._scheduler)
        if waiting > self._resume.waiting:
            return False
        if self._resume.age == math.inf:
            return True
        patience = self._resume.age
        oldest = self._oldest  # as it was last looked for; mostly it is too old still
        if oldest is None or oldest.waiting_since is None or now - _since(oldest) <= patience:
            oldest = self._oldest = min(self._scheduler, key=_since, default=None)
        return oldest is None or now - _since(oldest) <= patience

    def _begin_conflating(self, now: float) -> None:
        self._is_conflating = True
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
        # By the start of their waits, which an earlier switch may have made differ from the order.
        for place, ticket in sorted(newest.items(), key=_start_of_wait):
            if 0 < ticket.entry.version == place.newest_version:
                self._wait(place, ticket)
            else:
                self._supersede(ticket)
                self._sums.wait_ends(place, now)
                place.first = place.last = place.waiting_since = None
                self._let_go.add(place)

    def _end_conflating(self) -> None:
        self._is_conflating = False
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
        """Let a key, whose `waiting_since` is set, wait for the scheduler with this update only."""
        ticket.close()
        ticket.since = _since(place)
        place.first = place.last = ticket
        place.version_before = ticket.entry.version - 1
        self._scheduler.schedule(place)

    # What leaves.

    def _serve_next(self, now: float) -> Update | None:
        self._ask()
        self._settle(now)
        ticket = self._take(now)
        update = None if ticket is None else self._hand_out(ticket.record(now), now)
        self._advance(now)
        self._let_go.consider(now)
        return update

    def _take(self, now: float) -> Ticket | None:
        """Take out what is to be served next."""
        if not self._is_conflating:
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

    def _drop_waiting(self, place: Place, now: float) -> None:
        assert isinstance(place, BacklogPlace)
        if not self._is_conflating:
            self._expired += self._backlog.drop_key(place, now)
        elif place.waiting_since is not None:
            self._scheduler.remove(place)
            ticket = self._end_wait(place, now)
            self._backlog.close(place, ticket.entry.version)
            self._let_go.add(ticket.place)
            self._expired += 1

    def _restore(self, record: Record, now: float) -> None:
        self._ask()
        self._settle(now)
        _, place, version, arrival, _, _ = record
        assert isinstance(place, BacklogPlace)
        if place.delivered_version in (Place.FORGOTTEN, Place.UNCOUNTED):
            self._superseded += 1
        elif self._is_conflating and not 0 < version == place.newest_version:
            self._superseded += 1
            self._backlog.close(place, version)
        elif self.time_to_live is not None and arrival + self.time_to_live <= now:
            self._backlog.close(place, version)
            self._expired += 1
        elif not self._is_conflating:
            self._backlog.restore(record, now)
        else:
            since = self._sums.start_of_wait(place, arrival)
            place.first = place.last = Ticket.of(record, since)
            place.version_before = version - 1
            self._sums.wait_resumes(place, since, now)
            self._scheduler.restore(place)
        self._advance(now)
        self._let_go.consider(now)
        self._stream.note_deadline()

    def _arrivals(self) -> tuple[int, int, int]:
        without_room = self._without_room()
        return self._arrived + without_room, self._late, without_room

    def _check(self) -> None:
        super()._check()
        self._scheduler._check()
        assert not (self._is_conflating and self._backlog), "updates that nobody would serve"
        assert self._is_conflating or not self._scheduler, "keys that nobody would serve"
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
