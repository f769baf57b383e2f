"""The append queue: every update waits, first in, first out (the report's AQ and AQ-RLS).

Update queues are compared with it. It also suits applications that need every update. A full queue
rejects the arriving update. With random load shedding it instead drops an update at random, among
those that wait and the one that arrives.
"""

from __future__ import annotations

import random

from ...clock import Clock
from ...columns import Column
from ...errors import ParameterError
from ...held_interrupt import uninterrupted
from ...keys import Place
from ...statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey, ProcessingCost
from ...updates import BatchOutcome, Key, Outcome, Update
from ..in_process import DEFAULT_IN_PROCESS_LIMIT, InProcess, Record
from ..places import QueuePlaces
from ..stream.feed import Feed
from ..stream.listener import Beginning
from ..stream.stream import Stream
from ..stream_queue import StreamQueue, checked_limits
from ..waiting import Counts
from .backlog import BacklogPlace
from .log_cursor import LogCursor
from .log_waiting import READ_AHEAD, LogWaiting
from .shared_log import LogEntry


class RandomShedding:
    """Drop an update at random when an append queue is full.

    `seed` starts the random numbers, so that two runs drop the same updates.

    >>> RandomShedding(seed=1).victim(1) in (0, 1)
    True
    """

    __slots__ = ("_random",)

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def victim(self, waiting: int) -> int:
        """Return the number of the waiting update to drop, or `waiting` for the arriving one."""
        return self._random.randrange(waiting + 1)


class AppendQueue(StreamQueue):
    """Keep every update, also late ones, and serve them in the order of their arrival.

    `capacity` is the largest number of waiting updates. By default there is no limit.
    `shedding` chooses the update to drop when the queue is full. By default the arriving update is
    rejected.

    The other parameters are those of every `StreamQueue`. Values are Python objects, which all
    append queues of a stream share. They are not stored in the page pool of the stream.

    >>> from upstream import ManualClock
    >>> queue = AppendQueue(clock=ManualClock())
    >>> for price in (24.0, 25.0):
    ...     _ = queue.enqueue("IBM", price)
    >>> [update.value for update in queue.dequeue_many(10)]
    [24.0, 25.0]
    """

    __slots__ = ("_arrivals",)

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
        capacity, time_to_live = checked_limits(capacity, time_to_live)
        if shedding is not None and capacity is None:
            raise ParameterError("shedding", shedding, "given together with capacity")
        own_stream = Stream(
            clock=clock,
            retain=False,
            rates=rates,
            forgetting=forgetting,
            forget_after=forget_after,
        )

        def make_waiting(places: QueuePlaces, in_process: InProcess) -> Arrivals:
            self._arrivals = Arrivals(
                places, in_process, capacity=capacity, shedding=shedding, time_to_live=time_to_live
            )
            return self._arrivals

        super().__init__(
            own_stream,
            make_waiting,
            cost=ProcessingCost(processing_cost, forgetting),
            in_process_limit=in_process_limit,
        )

    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue one update and return its outcome.

        `key` is any hashable object, `value` is any object, and `time` is when the source made the
        update, in seconds; it defaults to the clock's time. A full queue rejects or sheds an
        update. While the queue is attached to a stream, the outcome is that of the stream.
        """
        if self._is_attached:
            return self._stream.enqueue(key, value, time)
        arrivals = self._arrivals
        arrivals.settle()
        rejected = arrivals.rejected
        outcome = self._stream.enqueue(key, value, time)
        arrivals.settle()
        return outcome if arrivals.rejected == rejected else Outcome.REJECTED

    @uninterrupted
    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue the rows of three columns of equal length, and return the outcomes.

        The columns are sequences, NumPy arrays or Arrow arrays. `times` defaults to the clock's
        time. If a row is invalid, an error names it and no row is applied.
        """
        if self._is_attached:
            return self._stream.enqueue_many(keys, values, times)
        arrivals = self._arrivals
        self._catch_up()
        before = arrivals.rejected
        outcome = self._stream.enqueue_many(keys, values, times)
        arrivals.settle()
        rejected = arrivals.rejected - before
        accepted = outcome.waiting - rejected
        rejected_rows = tuple(range(accepted, outcome.waiting))
        return BatchOutcome(accepted, 0, 0, rejected, rejected_rows)


class Arrivals(LogWaiting):
    """All waiting updates in the order of their arrival."""

    __slots__ = ("_shed", "_shedding", "_victim", "capacity", "rejected")

    def __init__(
        self,
        places: QueuePlaces,
        in_process: InProcess,
        *,
        capacity: int | None,
        shedding: RandomShedding | None,
        time_to_live: float | None,
    ) -> None:
        is_bounded = capacity is not None or time_to_live is not None
        cursor = LogCursor(
            self._take_entry,
            read_ahead=READ_AHEAD if is_bounded else None,
            ask=None if shedding is None else self._choose_victim,
        )
        super().__init__(places, in_process, cursor, time_to_live=time_to_live)
        self.capacity = capacity
        self._shedding = shedding
        self.rejected = 0
        """The number of updates that found the queue full."""
        self._shed = 0
        self._victim = 0
        """The update to drop if the next one finds the queue full."""

    def listen(self, feed: Feed, beginning: Beginning) -> None:
        """Start to read the log."""
        self._feed = feed
        self._open_log(beginning, age=self.time_to_live, at_once=self._shedding is not None)

    def stop_listening(self, now: float) -> None:
        """Stop reading the log, and release what waits."""
        self._close_log()

    def _next_due(self) -> float:
        return self._backlog.next_expiry(self.time_to_live)

    def _choose_victim(self, entry: LogEntry, now: float) -> None:
        """Choose the update to drop if the queue is full when an update arrives at `now`."""
        self.advance(now)
        waiting = len(self._backlog)
        if self._shedding is not None and self.capacity is not None and waiting >= self.capacity:
            self._victim = self._shedding.victim(waiting)

    def _take(self, entry: LogEntry, now: float) -> None:
        self._arrived += 1
        self.advance(now)
        waiting = len(self._backlog)
        is_full = self.capacity is not None and waiting >= self.capacity
        if is_full and self._shedding is None:
            self.rejected += 1
            return
        place = self._place_for(entry, now)
        self._backlog.accept(place, entry, now)
        if is_full and self._shedding is not None:
            self._shed += 1
            if self._victim == waiting:
                return
            self._departures.add(self._backlog.drop(self._victim, now).place)
        self._backlog.append(place, entry, now)

    def advance(self, now: float) -> None:
        """Drop what has expired by `now`."""
        while (due := self._backlog.next_expiry(self.time_to_live)) <= now:
            self._departures.add(self._backlog.drop(0, due).place)
            self._expired += 1

    def serve_next(self, now: float) -> Update | None:
        """Dequeue the oldest update."""
        self._settle_until(now)
        if not self._backlog:
            return None
        return self._in_process.add(self._backlog.pop(now).record(now), now, self)

    def peek(self, now: float) -> Update | None:
        """Return the oldest update, or None."""
        return self._backlog[0].update() if self._backlog else None

    def restore(self, record: Record, now: float) -> None:
        """Let an update that was given back wait at its old place, or count why it does not."""
        self._settle_until(now)
        _, place, version, arrival, _, _ = record
        assert isinstance(place, BacklogPlace)
        if place.delivered_version in (Place.FORGOTTEN, Place.UNCOUNTED):
            self._superseded += 1
        elif self.time_to_live is not None and arrival + self.time_to_live <= now:
            self._backlog.close(place, version)
            self._expired += 1
        else:
            self._backlog.restore(record, now)
            self._departures.reconsider()

    def drop_waiting(self, place: Place, now: float) -> None:
        """Drop all waiting updates of a key, and count them as expired."""
        assert isinstance(place, BacklogPlace)
        self._expired += self._backlog.drop_key(place, now)

    def counts_so_far(self) -> Counts:
        """Return the counters so far."""
        without_room = self._without_room()
        return Counts(
            arrived=self._arrived + without_room,
            late=0,
            rejected=self.rejected + without_room,
            superseded=self._superseded,
            expired=self._expired,
            shed=self._shed,
        )
