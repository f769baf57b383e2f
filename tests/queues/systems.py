"""Streams with their queues, made twice from one setup so that two ways can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from upstream import (
    FifoScheduler,
    InPlaceScheduler,
    Key,
    LinecuttingScheduler,
    ManualClock,
    Outcome,
    Scheduler,
    StalenessIndexScheduler,
    Stream,
    Update,
    UpdateQueue,
)
from upstream.errors import PagePoolFullError
from upstream.memory import OnDemandMemory, PagePool
from upstream.queues import AppendQueue, BatchOutcome, StreamQueue


def rank_of(key: Key) -> int:
    """Return a small number that is the same for 1 and 1.0, which are one key."""
    return len(key) % 5 if isinstance(key, str) else hash(key) % 5


def priority_of(key: Key) -> float:
    return 0.5 * rank_of(key)


def rate_of(key: Key) -> float:
    return 0.1 * rank_of(key) ** 2


SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "fifo": FifoScheduler,
    "in-place": InPlaceScheduler,
    "linecutting": LinecuttingScheduler,
    "index": StalenessIndexScheduler,
    "index with weights": lambda: StalenessIndexScheduler(longest_wait=5, weight=priority_of),
}


@dataclass(frozen=True)
class Setup:
    """What a stream and its queues are like."""

    kinds: tuple[str, ...]
    is_shared: bool
    retain: bool
    capacity: int | None
    time_to_live: float | None
    has_pool: bool
    has_given_rates: bool
    processing_cost: float | None

    def make(self) -> System:
        clock = ManualClock()
        memory = (
            OnDemandMemory(PagePool(48, page_bytes=16, location_bytes=8)) if self.has_pool else None
        )
        rates = rate_of if self.has_given_rates else None
        if not self.is_shared:
            own = UpdateQueue(
                SCHEDULERS[self.kinds[0]](),
                clock=clock,
                capacity=self.capacity,
                time_to_live=self.time_to_live,
                memory=memory,
                rates=rates,
                processing_cost=self.processing_cost,
            )
            return System(clock, own.stream, [own])
        stream = Stream(clock=clock, retain=self.retain, memory=memory, rates=rates)
        queues = [self._queue(kind) for kind in self.kinds]
        for queue in queues:
            stream.attach(queue)
        return System(clock, stream, queues)

    def _queue(self, kind: str) -> StreamQueue:
        if kind == "append":
            return AppendQueue(capacity=self.capacity, time_to_live=self.time_to_live)
        return UpdateQueue(
            SCHEDULERS[kind](),
            capacity=self.capacity,
            time_to_live=self.time_to_live,
            processing_cost=self.processing_cost,
        )


@dataclass
class System:
    """A stream with its queues, and what they have handed out."""

    clock: ManualClock
    stream: Stream
    queues: list[StreamQueue]
    in_process: list[tuple[StreamQueue, Update]] = field(default_factory=list)

    def enqueue_singly(
        self, keys: Sequence[object], values: Sequence[object], times: Sequence[object] | None
    ) -> BatchOutcome:
        outcomes = []
        for row, (key, value) in enumerate(zip(keys, values, strict=True)):
            time = None if times is None else times[row]
            assert time is None or isinstance(time, (int, float))
            try:
                outcomes.append(self.stream.enqueue(key, value, time))
            except PagePoolFullError:
                outcomes.append(Outcome.REJECTED)
        counts = Counter(outcomes)
        return BatchOutcome(
            counts[Outcome.WAITING],
            counts[Outcome.SUPERSEDED],
            counts[Outcome.LATE],
            counts[Outcome.REJECTED],
            tuple(row for row, outcome in enumerate(outcomes) if outcome is Outcome.REJECTED),
        )

    def dequeue(self, limit: int) -> list[Update]:
        taken = [(queue, update) for queue in self.queues for update in queue.dequeue_many(limit)]
        self.in_process += taken
        return [update for _, update in taken]

    def deliver(self, which: int) -> None:
        if self.in_process:
            queue, update = self.in_process.pop(which % len(self.in_process))
            queue.deliver(update)

    def give_back(self, which: int) -> str:
        if not self.in_process:
            return "nothing"
        queue, update = self.in_process[which % len(self.in_process)]
        try:
            queue.give_back(update)
        except PagePoolFullError:
            return "no room"
        self.in_process.remove((queue, update))
        return "returned"

    def forget(self, key: Key) -> None:
        if key in self.stream:
            self.stream.forget(key)

    def state(self) -> tuple[object, ...]:
        """Return all that can be seen of the stream and its queues from outside."""
        return (
            self.stream.statistics(),
            tuple(queue.statistics() for queue in self.queues),
            tuple(tuple(queue.snapshot()) for queue in self.queues),
            tuple(queue.peek() for queue in self.queues),
            tuple(self.stream.snapshot()),
            tuple(queue.queue_staleness() for queue in self.queues),
            tuple(queue.application_staleness() for queue in self.queues),
            str(self.stream.memory_usage()),
        )

    def check(self) -> None:
        self.stream._check()
        for queue in self.queues:
            queue._check()
