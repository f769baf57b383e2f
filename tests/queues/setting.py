"""How queues are made for the contract suite, and what its parts have in common."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, TypedDict, Unpack

import pytest

from upstream import (
    Clock,
    ManualClock,
    StreamQueue,
    Update,
)


class Options(TypedDict, total=False):
    """What the constructors of all kinds of queues take."""

    clock: Clock
    time_to_live: float
    rates: dict[object, float]
    processing_cost: float
    forgetting: float
    forget_after: float
    in_process_limit: int


USES: Final[dict[str, Callable[[StreamQueue, Update], object]]] = {
    "enqueue": lambda queue, _: queue.enqueue("IBM", 1.0),
    "enqueue_many": lambda queue, _: queue.enqueue_many(["IBM"], [1.0]),
    "dequeue": lambda queue, _: queue.dequeue(),
    "dequeue_many": lambda queue, _: queue.dequeue_many(2),
    "deliver": lambda queue, update: queue.deliver(update),
    "deliver_many": lambda queue, update: queue.deliver_many([update]),
    "give_back": lambda queue, update: queue.give_back(update),
    "forget": lambda queue, _: queue.forget("IBM"),
    "peek": lambda queue, _: queue.peek(),
    "read": lambda queue, _: queue.read("IBM"),
    "snapshot": lambda queue, _: queue.snapshot(),
    "__len__": lambda queue, _: len(queue),
    "queue_staleness": lambda queue, _: queue.queue_staleness("IBM"),
    "application_staleness": lambda queue, _: queue.application_staleness("IBM"),
    "staleness_by_key": lambda queue, _: queue.staleness_by_key(),
    "key_staleness": lambda queue, _: queue.key_staleness(),
    "key_staleness_in_parts": lambda queue, _: list(queue.key_staleness_in_parts(2)),
    "waiting_since": lambda queue, _: queue.waiting_since(),
    "lower_bound": lambda queue, _: queue.lower_bound(),
}
"""Every way in which an application uses a queue of any kind while it lives."""


def copy_of(update: Update) -> Update:
    """Return `update` as it comes back from another process."""
    copy = pickle.loads(pickle.dumps(update))  # noqa: S301 - made just now
    assert isinstance(copy, Update)
    return copy


def next_of(queue: StreamQueue) -> Update:
    """Dequeue, from a queue in which something waits."""
    update = queue.dequeue()
    assert update is not None
    return update


def values_of(updates: list[Update]) -> list[object]:
    return [update.value for update in updates]


def as_bad_time(time: object) -> float:
    """Return `time` as if it were one, which is what callers without a type checker do."""
    return time  # type: ignore[return-value]


class QueueSetting(ABC):
    """Subclasses say which policy is tested, and how its queue is made."""

    policy: ClassVar[str]

    @abstractmethod
    def make(self, **options: Unpack[Options]) -> StreamQueue: ...

    @pytest.fixture
    def queue(self, clock: ManualClock) -> StreamQueue:
        return self.make(clock=clock)
