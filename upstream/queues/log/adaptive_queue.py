"""The adaptive queue: it appends while the consumer keeps up, else it conflates (section 8)."""

from __future__ import annotations

import math

from ...clock import Clock
from ...columns import Column
from ...errors import ParameterError
from ...held_interrupt import uninterrupted
from ...schedulers import Scheduler, StalenessIndexScheduler, check_scheduler
from ...statistics import (
    DEFAULT_FORGETTING,
    AnyKey,
    GivenCost,
    PerKey,
    ProcessingCost,
    check_count,
)
from ...updates import BatchOutcome, Key, Outcome
from ..in_process import DEFAULT_IN_PROCESS_LIMIT, InProcess
from ..places import QueuePlaces
from ..stream.deadlines import check_age
from ..stream.stream import Stream
from ..stream_queue import StreamQueue
from .adaptive_waiting import AdaptiveWaiting, Bounds


class AdaptiveQueue(StreamQueue):
    """Keep every update while the consumer keeps up, and conflate when it does not.

    `scheduler` serves the keys while the queue conflates. The default is a
    `StalenessIndexScheduler`. It must not be a `FifoScheduler` or a `PacedScheduler`.
    `max_waiting` and `max_age` say when the queue starts to conflate: when more updates wait, or
    when one has waited for more seconds. By default there is no `max_age`.
    `resume_waiting` and `resume_age` say when it keeps every update again: when at most so many
    wait and none has waited for longer. The defaults are half of the other bounds.

    The other parameters are those of every `StreamQueue`.

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

    __slots__ = ("_adaptive", "_scheduler")

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
        bounds, resume = _checked_bounds(max_waiting, max_age, resume_waiting, resume_age)
        time_to_live = check_age("time_to_live", time_to_live)
        self._scheduler = StalenessIndexScheduler() if scheduler is None else scheduler
        check_scheduler(self._scheduler)
        if self._scheduler.needs_arrival_order or self._scheduler.holds_back:
            raise ParameterError(
                "scheduler", self._scheduler.name, "any scheduler except fifo and paced"
            )
        cost = ProcessingCost(processing_cost, forgetting)
        own_stream = Stream(
            clock=clock,
            retain=False,
            rates=rates,
            forgetting=forgetting,
            forget_after=forget_after,
        )

        def make_waiting(places: QueuePlaces, in_process: InProcess) -> AdaptiveWaiting:
            self._adaptive = AdaptiveWaiting(
                self._scheduler,
                places,
                in_process,
                cost,
                bounds=bounds,
                resume=resume,
                time_to_live=time_to_live,
            )
            return self._adaptive

        super().__init__(own_stream, make_waiting, cost=cost, in_process_limit=in_process_limit)

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler that serves the keys while the queue conflates."""
        return self._scheduler

    @property
    def is_conflating(self) -> bool:
        """Whether newer updates supersede older ones now."""
        self._catch_up()
        return self._adaptive.is_conflating

    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue one update and return its outcome.

        `key` is any hashable object, `value` is any object, and `time` is when the source made the
        update, in seconds; it defaults to the clock's time. While the queue is attached to a
        stream, the outcome is that of the stream.
        """
        if self._is_attached:
            return self._stream.enqueue(key, value, time)
        adaptive = self._adaptive
        self._catch_up()
        late, superseding = adaptive.late, adaptive.superseding
        self._stream.enqueue(key, value, time)
        adaptive.settle()
        if adaptive.late > late:
            return Outcome.LATE
        return Outcome.SUPERSEDED if adaptive.superseding > superseding else Outcome.WAITING

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
        adaptive = self._adaptive
        self._catch_up()
        late, superseding = adaptive.late, adaptive.superseding
        rows = self._stream.enqueue_many(keys, values, times).waiting
        adaptive.settle()
        late, superseding = adaptive.late - late, adaptive.superseding - superseding
        return BatchOutcome(rows - late - superseding, superseding, late, 0)

    def _policy(self) -> str:
        way = "conflating" if self._adaptive.is_conflating else "appending"
        return f" {way}, {self._scheduler.name}"


def _checked_bounds(
    max_waiting: int,
    max_age: float | None,
    resume_waiting: int | None,
    resume_age: float | None,
) -> tuple[Bounds, Bounds]:
    """Return the bounds for conflating, and those for keeping every update again."""
    max_age = check_age("max_age", max_age)
    check_count("max_waiting", max_waiting, least=1)
    check_count("resume_waiting", resume_waiting, least=0, or_none=True)
    resume_age = check_age("resume_age", resume_age)
    bounds = Bounds(max_waiting, math.inf if max_age is None else max_age)
    resume = Bounds(
        max_waiting // 2 if resume_waiting is None else resume_waiting,
        bounds.age / 2 if resume_age is None else resume_age,
    )
    if resume.waiting >= bounds.waiting:
        raise ParameterError("resume_waiting", resume_waiting, "less than max_waiting")
    if resume.age > bounds.age:
        raise ParameterError("resume_age", resume_age, "at most max_age")
    return bounds, resume
