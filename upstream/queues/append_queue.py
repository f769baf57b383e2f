"""The append queue: every update waits, first in, first out (the report's AQ and AQ-RLS).

It is what update queues are compared with, and what an application uses that wants every update.
Full, it rejects the update that comes; or, with random load shedding, it drops one at random among
those that wait and the one that comes.
"""

from __future__ import annotations

import random

from ..clock import Clock
from ..columns import Column
from ..errors import ParameterError
from ..held_interrupt import uninterrupted
from ..keys import Place
from ..statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey
from ..updates import Key, Outcome, Update
from .backlog import BacklogPlace
from .batch_outcome import BatchOutcome
from .beginning import Beginning
from .in_process import Record
from .log_feed import LogFeed
from .log_queue import READ_AHEAD, LogQueue
from .shared_log import LogEntry
from .stream import Stream
from .stream_queue import DEFAULT_IN_PROCESS_LIMIT


class RandomShedding:
    """Drop an update at random when an append queue is full.

    >>> RandomShedding(seed=1).victim(1) in (0, 1)
    True
    """

    __slots__ = ("_random",)

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def victim(self, waiting: int) -> int:
        """Return which of `waiting` updates to drop, or `waiting` for the one that comes."""
        return self._random.randrange(waiting + 1)


class AppendQueue(LogQueue):
    """Keep every update, late ones as well, and serve them in the order of their arrival.

    `capacity` bounds the updates that wait; `shedding` says which one goes when there is one more,
    the one that comes unless given. Values are Python objects, shared with all append queues of
    the stream; they are not kept in the stream's page pool.

    >>> from upstream import ManualClock
    >>> queue = AppendQueue(clock=ManualClock())
    >>> for price in (24.0, 25.0):
    ...     _ = queue.enqueue("IBM", price)
    >>> [update.value for update in queue.dequeue_many(10)]
    [24.0, 25.0]
    """

    __slots__ = ("_shedding", "_victim")

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        capacity: int | None = None,
        shedding: RandomShedding | None = None,
        time_to_live: float | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        forget_after: float | None = None,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        if shedding is not None and capacity is None:
            raise ParameterError("shedding", shedding, "given together with capacity")
        self._arrived = 0
        self._shedding = shedding
        is_bounded = capacity is not None or time_to_live is not None
        self._victim = 0
        """Which update goes if the next one finds the queue full."""
        self._feed = LogFeed(
            self._take_over,
            read_ahead=READ_AHEAD if is_bounded else None,
            ask=None if shedding is None else self._choose_victim,
        )
        super().__init__(
            Stream(
                clock=clock,
                retain=False,
                rates=rates,
                forgetting=forgetting,
                forget_after=forget_after,
            ),
            capacity=capacity,
            time_to_live=time_to_live,
            processing_cost=processing_cost,
            forgetting=forgetting,
            in_process_limit=in_process_limit,
        )

    def peek(self) -> Update | None:
        """Return what `dequeue` would hand out now; change nothing."""
        self._catch_up()
        return self._backlog[0].update() if self._backlog else None

    def __len__(self) -> int:
        """Return how many updates wait."""
        self._catch_up()
        return len(self._backlog)

    def _listen(self, beginning: Beginning) -> None:
        self._open_log(beginning, age=self.time_to_live, at_once=self._shedding is not None)

    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue an update of `key`; `time` defaults to the clock's."""
        if self._is_attached:
            return self._stream.enqueue(key, value, time)
        self._feed.settle()
        rejected = self._rejected
        outcome = self._stream.enqueue(key, value, time)
        self._feed.settle()
        return outcome if self._rejected == rejected else Outcome.REJECTED

    @uninterrupted
    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue the rows of three equally long columns; `times` defaults to the clock's."""
        if self._is_attached:
            return self._stream.enqueue_many(keys, values, times)
        self._catch_up()
        before = self._rejected
        outcome = self._stream.enqueue_many(keys, values, times)
        self._feed.settle()
        rejected = self._rejected - before
        accepted = outcome.waiting - rejected
        rejected_rows = tuple(range(accepted, outcome.waiting))
        return BatchOutcome(accepted, 0, 0, rejected, rejected_rows)

    def _stop_listening(self, now: float) -> None:
        self._close_log()

    def _next_due(self) -> float:
        return self._backlog.next_expiry(self.time_to_live)

    def _choose_victim(self, entry: LogEntry, now: float) -> None:
        """Ask which update is to go if the queue is full when an update reaches it at `now`."""
        self._advance(now)
        waiting = len(self._backlog)
        if self._shedding is not None and self.capacity is not None and waiting >= self.capacity:
            self._victim = self._shedding.victim(waiting)

    def _take_at(self, entry: LogEntry, now: float) -> None:
        """Take an update that reaches the queue at `now`."""
        self._arrived += 1
        self._advance(now)
        waiting = len(self._backlog)
        is_full = self.capacity is not None and waiting >= self.capacity
        if is_full and self._shedding is None:
            self._rejected += 1
            return
        place = self._place_for(entry, now)
        self._backlog.accept(place, entry, now)
        if is_full and self._shedding is not None:
            self._shed += 1
            if self._victim == waiting:
                return
            self._let_go.add(self._backlog.drop(self._victim, now).place)
        self._backlog.append(place, entry, now)

    def _advance(self, now: float) -> None:
        while (due := self._backlog.next_expiry(self.time_to_live)) <= now:
            self._let_go.add(self._backlog.drop(0, due).place)
            self._expired += 1

    def _serve_next(self, now: float) -> Update | None:
        self._settle(now)
        if not self._backlog:
            return None
        return self._hand_out(self._backlog.pop(now).record(now), now)

    def _restore(self, record: Record, now: float) -> None:
        self._settle(now)
        _, place, version, arrival, _, _ = record
        assert isinstance(place, BacklogPlace)
        if place.delivered_version in (Place.FORGOTTEN, Place.UNCOUNTED):
            self._superseded += 1
        elif self.time_to_live is not None and arrival + self.time_to_live <= now:
            self._backlog.close(place, version)
            self._expired += 1
        else:
            self._backlog.restore(record, now)
            self._stream.note_deadline()

    def _drop_waiting(self, place: Place, now: float) -> None:
        assert isinstance(place, BacklogPlace)
        self._expired += self._backlog.drop_key(place, now)

    def _arrivals(self) -> tuple[int, int, int]:
        without_room = self._without_room()
        return self._arrived + without_room, 0, self._rejected + without_room
