"""What queues of windows share: the delivery of results, staleness, and their stream.

The kinds of queues differ in which windows leave, and when: see `WindowKind`. `WindowIntake`
processes arriving tuples.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Generic, cast

from ...clock import Clock, SystemClock, steps_back_of
from ...errors import AlreadyAttachedError, ClosedError, ParameterError, UnknownKeyError
from ...keys import DuePlaces
from ...memory import MemoryUsage
from ...statistics import (
    AnyKey,
    PerKey,
    ProcessingCost,
    UpdateRates,
    check_count,
    rates_from,
)
from ...updates import Key, Update
from ...windows import (
    TupleStatistics,
    WindowCounts,
    WindowQueueStatistics,
    WindowResult,
    WindowSpecification,
    WindowStatistics,
    WindowTuple,
)
from .. import staleness_methods
from ..cycles import Cycles
from ..places import QueuePlaces
from ..serving import serve_many
from ..stream.feed import Feed
from ..stream.listener import Beginning, Listener
from ..stream.stream import Stream
from . import window_intake
from .in_process_windows import InProcessWindows
from .window_intake import WindowIntake
from .window_kind import WindowKind
from .window_place import AnyPlace


class WindowedQueue(ABC, Generic[AnyPlace]):
    """A queue of windows.

    The kinds are `WindowQueue` and `AppendWindowQueue`; use one of them. They share these
    parameters:

    `specification` says which windows there are.
    `clock` is where the queue reads the time of arrivals. The default is a `SystemClock`.
    `rates` are the windows per second of each key, as a mapping or a function of the key. By
    default they are estimated.
    `processing_cost` is the seconds that the consumer needs for one window: a number, or a function
    that returns the present cost. By default it is measured: the time from the dequeue of each
    tuple to the next call, summed over the tuples of the window.
    `forgetting` is the weight of the newest value in whatever is estimated or measured.
    `in_process_limit` is the largest number of windows in process. Beyond it, the oldest is taken
    as delivered.
    """

    _stream: Stream | None
    _intake: WindowIntake[AnyPlace]

    __slots__ = (
        "__weakref__",
        "_cost",
        "_counts",
        "_cycles",
        "_final",
        "_in_process",
        "_intake",
        "_kind",
        "_places",
        "_specification",
        "_stream",
        "_update_rates",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        make_kind: Callable[[WindowedQueue[AnyPlace]], WindowKind[AnyPlace]],
        *,
        clock: Clock | None,
        rates: PerKey[AnyKey] | None,
        cost: ProcessingCost,
        forgetting: float,
        in_process_limit: int,
        encode: Callable[[object], object] | None = None,
        is_direct: bool = True,
    ) -> None:
        check_count("in_process_limit", in_process_limit, least=1)
        self._specification = specification
        self._places = QueuePlaces()
        self._counts = WindowCounts()
        self._update_rates = rates_from(rates, forgetting)
        self._cost = cost
        self._in_process = InProcessWindows(self._places.sums, cost, limit=in_process_limit)
        self._stream = None
        self._final: WindowQueueStatistics | None = None
        self._cycles = Cycles()
        self._cycles.add(self._places.column)
        self._kind = make_kind(self)
        self._intake = WindowIntake(
            self._kind,
            specification,
            self._places,
            self._counts,
            self._update_rates,
            clock=SystemClock() if clock is None else clock,
            encode=encode,
            is_direct=is_direct,
        )
        self._cycles.add((self._intake,))

    enqueue = window_intake.enqueue
    enqueue_many = window_intake.enqueue_many

    @property
    def specification(self) -> WindowSpecification:
        """The windows of the queue: their size, slide and tick."""
        return self._specification

    @abstractmethod
    def dequeue(self) -> WindowTuple | None:
        """Return the next tuple of a committed window or the end of a window, or None."""

    def dequeue_many(self, limit: int) -> list[WindowTuple]:
        """Return up to `limit` tuples, like as many calls of `dequeue`."""
        check_count("limit", limit, least=0)
        return serve_many(self.dequeue, limit)

    def deliver(self, result: WindowResult) -> None:
        """Note that the application has the result of a window, found by its key and end.

        Raises WindowNotInProcessError if the window is not in process.
        """
        now = self._intake.catch_up()
        self._in_process.note_service(now)
        self._in_process.deliver(result, now)

    def deliver_many(self, results: Iterable[WindowResult]) -> None:
        """Deliver each of `results`."""
        for result in list(results):
            self.deliver(result)

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now` without a further tuple.

        `now` is a source time. A tuple that arrives later for one of these windows is late.
        O(keys) the first time, and then O(log keys) for each key with a window that ends.
        """
        clock_now = self._intake.catch_up()
        self._kind.ask()
        try:
            until = float(now)
        except (TypeError, ValueError):
            until = math.nan
        if math.isnan(until):
            raise ParameterError("now", now, "a time in seconds")
        ends = self._counts.ends
        if ends is None:
            ends = self._counts.ends = DuePlaces()
            for place in self._intake.open_places():
                if place.windows.next_end < math.inf:
                    ends.note(place, place.windows.next_end)
        while (first := ends.first()) is not None and first[0] <= until:
            place = cast(AnyPlace, first[1])
            # A later end shows that the window in question was closed by a tuple.
            triggers = place.windows.close_until(until) if place.windows.next_end == first[0] else 0
            if place.windows.next_end < math.inf:
                ends.move(place, place.windows.next_end)
            else:
                ends.remove(place)
            if triggers:
                self._kind.react(place, triggers, clock_now)

    @abstractmethod
    def read(self, key: Key) -> list[Update] | None:
        """Return the waiting tuples of `key`, or None if there are none; change nothing."""

    def __len__(self) -> int:
        """Return the number of waiting keys."""
        if self._final is None:
            self._intake.catch_up()
        return self._kind.waiting_count()

    def forget(self, key: Key) -> None:
        """Forget `key` here and in the stream, if any. An unknown key raises UnknownKeyError.

        Its staleness still counts in the averages. Its windows count as superseded. A committed
        window still leaves if it is complete, and is aborted otherwise.
        """
        if self._stream is not None:
            self._stream.forget(key)
            return
        self._intake.catch_up()
        self._intake.forget(self._find_known(key))

    # Staleness and statistics.

    queue_staleness = staleness_methods.queue_staleness
    application_staleness = staleness_methods.application_staleness
    staleness_by_key = staleness_methods.staleness_by_key
    key_staleness = staleness_methods.key_staleness
    key_staleness_in_parts = staleness_methods.key_staleness_in_parts
    mean_staleness = staleness_methods.mean_staleness
    lower_bound = staleness_methods.lower_bound

    @property
    def key_count(self) -> int:
        """The number of keys that have arrived and are not forgotten, as last counted. O(1)."""
        return self._places.sums.counted

    @property
    def processing_cost(self) -> float | None:
        """The seconds that the consumer needs for one window, or None while unknown."""
        return self._cost.seconds()

    def statistics(self) -> WindowQueueStatistics:
        """Return the exact counters; after `close`, the final ones. O(keys)."""
        if self._final is not None:
            return self._final
        self._intake.catch_up()
        return self._count()

    def memory_usage(self) -> MemoryUsage | None:
        """Return the tuples' use of the page pool, or None if they are not stored in one."""
        return None

    # The queue's life.

    @property
    def stream(self) -> Stream | None:
        """The stream that the queue is attached to, or None."""
        return self._stream

    @property
    def is_attached(self) -> bool:
        """Whether the queue is attached to a stream."""
        return self._stream is not None

    @property
    def is_closed(self) -> bool:
        """Whether the queue is closed, so that only its final statistics can be read."""
        return self._final is not None

    @property
    def clock_steps_back(self) -> int:
        """How many readings of the clock were earlier than a previous one."""
        return steps_back_of(self._intake.ticks)

    def close(self, *, dropping: bool = False) -> WindowQueueStatistics:
        """Detach from the stream, if any, release everything, and return the final statistics.

        With `dropping`, waiting windows are dropped first and count as superseded. Otherwise the
        final statistics count them as held.
        """
        if self._final is not None:
            return self._final
        if dropping:
            self._intake.forget_all()
        return self._leave() if self._stream is None else self._stream.detach(self)

    def __repr__(self) -> str:
        name = type(self).__name__
        if self._final is not None:
            return f"<closed {name}: {self._final.tuples.arrived} tuples arrived>"
        return (
            f"<{name}{self._policy()} of {self._specification}: "
            f"{self._kind.waiting_count()} waiting, "
            f"{self._places.describe(self._intake.ticks())}>"
        )

    def _policy(self) -> str:
        """Return the policy of the queue as a part of its representation."""
        return ""

    # What the stream calls.

    def _prepare_to_join(self, stream: Stream) -> Listener:
        if self._final is not None:
            raise ClosedError("queue")
        if self._stream is not None or self._counts.arrived:
            raise AlreadyAttachedError(
                "this queue is already attached or has received updates; attach a new queue"
            )
        self._kind.ask()
        return self._intake

    def _join(self, stream: Stream, feed: Feed, beginning: Beginning) -> None:
        self._stream = stream
        self._kind.listen(feed)  # first, since keys that are taken over need the stream's clock
        self._intake.join(feed, beginning)

    def _leave(self) -> WindowQueueStatistics:
        self._intake.catch_up()
        final = self._count()
        now = self._intake.ticks()  # not earlier, because counting also does what is due
        self._final = final
        self._kind.close(self._intake.open_places(), self._intake.feed)
        self._places.close(now)
        self._intake.close()
        self._in_process.clear()
        self._stream = None
        return final

    # What is shared with the parts.

    def _catch_up(self) -> float:
        """Read the arrivals, do what is due, and return the time."""
        return self._intake.catch_up()

    def _rates(self) -> UpdateRates:
        return self._update_rates

    def _find(self, key: Key) -> AnyPlace | None:
        return self._intake.find(key)

    def _find_known(self, key: Key) -> AnyPlace:
        """Return the place of a key; an unknown key raises UnknownKeyError."""
        place = self._intake.find(key)
        if place is None:
            raise UnknownKeyError(key)
        return place

    def _count(self) -> WindowQueueStatistics:
        counts, kind, in_process = self._counts, self._kind, self._in_process
        places = list(self._intake.open_places())
        return WindowQueueStatistics(
            windows=WindowStatistics(
                opened=counts.opened,
                committed=counts.committed,
                superseded=counts.superseded,
                shed=counts.shed,
                rejected=counts.rejected,
                held=sum(place.buffer.held_windows for place in places),
            ),
            tuples=TupleStatistics(
                arrived=counts.arrived,
                used=counts.used,
                dropped=counts.dropped,
                outside=counts.outside,
                late=counts.late,
                rejected=counts.refused,
                held=sum(place.buffer.held_tuples for place in places) + kind.held_by_forgotten(),
            ),
            waiting=kind.waiting_count(),
            under_processing=kind.ready_count(places),
            idle=kind.idle_count(),
            in_process=len(in_process),
            delivered=in_process.delivered,
            taken_as_delivered=in_process.taken_as_delivered,
            aborted=in_process.aborted,
            keys=self.key_count,
            forgotten=self._places.forgotten,
        )

    def _check(self) -> None:
        self._places._check()
        self._intake._check()
        assert self.statistics().is_balanced, f"something is not accounted for: {self._count()}"


def check_specification(specification: object) -> None:
    """Raise ParameterError unless this is a WindowSpecification."""
    if not isinstance(specification, WindowSpecification):
        raise ParameterError("specification", specification, "a WindowSpecification")
