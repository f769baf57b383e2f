"""What queues of windows have in common: results delivered, and what is known of the queue.

The kinds of queues differ in which windows leave, and when; how tuples come in is `WindowIntake`'s.
A window is in process from the moment at which all of it has left until its result is delivered.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import cast

from ..clock import Clock
from ..errors import ClosedError, ParameterError, WindowNotInProcessError
from ..keys import KeyNumbers
from ..memory import MemoryUsage
from ..statistics import (
    DEFAULT_FORGETTING,
    AnyKey,
    EstimatedRates,
    GivenCost,
    GivenRates,
    PerKey,
    ProcessingCost,
    Rates,
    check_count,
)
from ..updates import Key
from ..windows import (
    TupleStatistics,
    WindowQueueStatistics,
    WindowResult,
    WindowSpecification,
    WindowStatistics,
    WindowTuple,
)
from .stream_queue import DEFAULT_IN_PROCESS_LIMIT
from .window_intake import WindowIntake
from .window_keys import AnyPlace
from .window_place import CommittedWindow


class WindowedQueue(WindowIntake[AnyPlace]):
    """A queue of windows.

    `rates` are those of windows, estimated unless given, and `processing_cost` is that of a window,
    measured unless given: the time that passes between the dequeue of a tuple and the next call,
    summed over the window's tuples.
    """

    __slots__ = (
        "_aborted",
        "_by_name",
        "_delivered",
        "_final",
        "_in_process",
        "_in_process_limit",
        "_served",
        "_served_at",
        "_taken_as_delivered",
        "_unclaimed",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        *,
        clock: Clock | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        check_count("in_process_limit", in_process_limit, least=1)
        super().__init__(
            specification,
            clock=clock,
            rates=EstimatedRates(forgetting) if rates is None else GivenRates(cast(Rates, rates)),
            cost=ProcessingCost(processing_cost, forgetting),
        )
        self._in_process: OrderedDict[int, CommittedWindow] = OrderedDict()
        """The windows that have left and were not delivered, by identity, oldest first."""
        self._by_name: dict[tuple[int, float], list[CommittedWindow]] = {}
        """The same by their names."""
        self._in_process_limit = in_process_limit
        self._delivered = self._taken_as_delivered = self._aborted = 0
        self._unclaimed = 0
        """How many windows were taken as delivered, and may yet be delivered."""
        self._served: CommittedWindow | None = None
        self._served_at = 0.0
        self._final: WindowQueueStatistics | None = None

    @property
    def specification(self) -> WindowSpecification:
        """Which windows there are."""
        return self._specification

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, a source time, as no tuple will.

        A tuple that comes for one of them after all is late. O(1) if none ends, else O(keys).
        """
        clock_now = self._ticks()
        self._ask()
        try:
            until = float(now)
        except (TypeError, ValueError):
            until = math.nan
        if math.isnan(until):
            raise ParameterError("now", now, "a time in seconds")
        earliest = self._counts.earliest_end
        if until < earliest or earliest == math.inf:
            return
        self._counts.earliest_end = math.inf
        for place in self._open_places():
            triggers = place.buffer.close_until(until)
            if triggers:
                self._react(place, triggers, clock_now)
            self._counts.earliest_end = min(self._counts.earliest_end, place.buffer.next_end)

    # Results.

    def deliver(self, result: WindowResult) -> None:
        """Note that the application has the result of a window, known by its key and end."""
        now = self._ticks()
        self._note_service(now)
        try:
            name = hash(result.key), result.end
            alike = self._by_name.get(name, ())
            window = next((one for one in alike if one.place.cell.key == result.key), None)
        except (AttributeError, TypeError):
            raise WindowNotInProcessError(result) from None
        if window is not None:
            self._drop_in_process(window)
            self._note_delivery(window, now)
        elif self._unclaimed:
            self._unclaimed -= 1  # it was taken as delivered
        else:
            raise WindowNotInProcessError(result)

    def deliver_many(self, results: Iterable[WindowResult]) -> None:
        """Deliver each of `results`."""
        for result in list(results):
            self.deliver(result)

    @abstractmethod
    def dequeue(self) -> WindowTuple | None:
        """Hand out the next tuple of a committed window, or None if there is none now."""

    def dequeue_many(self, limit: int) -> list[WindowTuple]:
        """Hand out up to `limit` tuples, as that many calls of `dequeue` would."""
        check_count("limit", limit, least=0)
        tuples: list[WindowTuple] = []
        while len(tuples) < limit:
            try:
                window_tuple = self.dequeue()
            except Exception:  # of a codec, say; the next call will see it again
                if tuples:
                    break
                raise
            if window_tuple is None:
                break
            tuples.append(window_tuple)
        return tuples

    def _note_service(self, now: float) -> None:
        """Count the time since the last tuple was handed out as spent on its window."""
        window = self._served
        if window is not None:
            window.seconds += now - self._served_at
            self._served = None

    def _note_finished(self, window: CommittedWindow, now: float) -> None:
        """Note that all of a window has left, and that its result is to be delivered."""
        older: CommittedWindow | None = None
        alike = self._by_name.get(window.name)
        if alike is None:
            self._by_name[window.name] = [window]
        else:
            key = window.place.cell.key
            # Of a key that was forgotten and came again.
            older = next((one for one in alike if _is_equal(one.place.cell.key, key)), None)
            alike.append(window)
        self._in_process[id(window)] = window
        if older is None and len(self._in_process) > self._in_process_limit:
            older = next(iter(self._in_process.values()))
        if older is not None:
            self._drop_in_process(older)
            self._taken_as_delivered += 1
            self._unclaimed += 1
            self._note_delivery(older, now)

    def _drop_in_process(self, window: CommittedWindow) -> None:
        del self._in_process[id(window)]
        alike = self._by_name.pop(window.name)
        if len(alike) > 1:
            self._by_name[window.name] = [one for one in alike if one is not window]

    def _note_delivery(self, window: CommittedWindow, now: float) -> None:
        self._delivered += 1
        self._cost.took(window.seconds)
        window.place.note_delivery(window.version, self._sums, now)

    # What is known.

    def statistics(self) -> WindowQueueStatistics:
        """Return the exact counters; after `close` the final ones. O(keys)."""
        if self._final is not None:
            return self._final
        self._ticks()
        return self._count()

    def memory_usage(self) -> MemoryUsage | None:
        """Return what the tuples take of the page pool, None if they are not kept there."""
        return None

    def __len__(self) -> int:
        """Return how many keys wait."""
        if self._final is None:
            self._ticks()
        return self._waiting_count()

    @property
    def is_closed(self) -> bool:
        """Whether the queue is closed, and only its final statistics can be read."""
        return self._final is not None

    def forget(self, key: Key) -> None:
        """Forget `key`; UnknownKeyError if it is not known.

        Its staleness keeps counting in the averages. Its windows count as superseded; one that is
        committed and complete still leaves, one that is not is given up.
        """
        if self._stream is not None:
            self._stream.forget(key)
            return
        now = self._ticks()
        place = self._find_known(key)
        self._forget_place(place, now)
        self._window_keys.forget(place)
        self._window_keys.end_call()

    def close(self) -> WindowQueueStatistics:
        """Detach from the stream, if any, free everything, and return the final statistics."""
        if self._final is not None:
            return self._final
        return self.leave() if self._stream is None else self._stream.detach(self)

    def leave(self) -> WindowQueueStatistics:
        """Free everything, and return the final statistics. Called by `Stream.detach`."""
        self._ticks()
        final = self._count()
        now = self._ticks_only()  # not before: to count is to do what fell due
        self._final = final
        self._let_go()
        self._retire_all(now)
        self._window_keys.clear()
        self._places_by_cell.clear()
        self._numbers = KeyNumbers()
        self._in_process.clear()
        self._by_name.clear()
        self._served = None
        if self._stream is not None:
            self._feed.close(self._stream)
            self._stream = None
        self._is_plain = False
        self._encode = None
        self._ticks = _raise_closed
        return final

    def _count(self) -> WindowQueueStatistics:
        counts = self._counts
        waiting, ready, idle = self._waiting_count(), self._ready_count(), self._idle_count()
        return WindowQueueStatistics(
            windows=WindowStatistics(
                opened=counts.opened,
                committed=counts.committed,
                superseded=counts.superseded,
                shed=counts.shed,
                rejected=counts.rejected,
                held=sum(place.buffer.held_windows for place in self._open_places()),
            ),
            tuples=TupleStatistics(
                arrived=counts.arrived,
                used=counts.used,
                dropped=counts.dropped,
                outside=counts.outside,
                late=counts.late,
                rejected=counts.refused,
                held=self._held_tuples(),
            ),
            waiting=waiting,
            under_processing=ready,
            idle=idle,
            in_process=len(self._in_process),
            delivered=self._delivered,
            taken_as_delivered=self._taken_as_delivered,
            aborted=self._aborted,
            keys=self.key_count,
            forgotten=self._forgotten,
        )

    def _held_tuples(self) -> int:
        return sum(place.buffer.held_tuples for place in self._open_places())

    @abstractmethod
    def _let_go(self) -> None:
        """Free everything, since the queue is closed."""

    @abstractmethod
    def _waiting_count(self) -> int:
        """Return how many keys wait."""

    @abstractmethod
    def _ready_count(self) -> int:
        """Return how many keys are READY."""

    @abstractmethod
    def _idle_count(self) -> int:
        """Return how many keys are IDLE."""

    def _check(self) -> None:
        super()._check()
        assert self.statistics().is_balanced, f"something is not accounted for: {self._count()}"


def _is_equal(one: Key, other: Key) -> bool:
    """Tell whether two keys are equal; not if they cannot tell."""
    with suppress(Exception):
        return one is other or bool(one == other)
    return False


def _raise_closed() -> float:
    raise ClosedError("queue")
