"""The registry: the public names of the policies, and what they stand for.

Command lines, the service and the simulator name policies by these strings; nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .clock import Clock
from .errors import UnknownPolicyError
from .queues import AdaptiveQueue, AppendQueue, RandomShedding, StreamQueue, UpdateQueue
from .schedulers import (
    FifoScheduler,
    InPlaceScheduler,
    LinecuttingScheduler,
    Scheduler,
    StalenessIndexScheduler,
)
from .statistics import AnyKey, GivenCost, PerKey

SCHEDULERS: Final[dict[str, type[Scheduler]]] = {
    scheduler.name: scheduler
    for scheduler in (
        FifoScheduler,
        InPlaceScheduler,
        LinecuttingScheduler,
        StalenessIndexScheduler,
    )
}
"""The key schedulers by name."""

POLICIES: Final = ("append", "append-shedding", "adaptive", *SCHEDULERS)
"""All policies: ways of queueing, the update queues by their schedulers."""

DEFAULT_POLICY: Final = StalenessIndexScheduler.name
SHEDDING_CAPACITY: Final = 1_000


def make_scheduler(name: str = DEFAULT_POLICY) -> Scheduler:
    """Return a new scheduler with its defaults; UnknownPolicyError if there is none of this name.

    >>> make_scheduler("in-place").name
    'in-place'
    """
    if name not in SCHEDULERS:
        raise UnknownPolicyError(name, SCHEDULERS)
    return SCHEDULERS[name]()


def make_queue(
    policy: str = DEFAULT_POLICY,
    *,
    clock: Clock | None = None,
    capacity: int | None = None,
    rates: PerKey[AnyKey] | None = None,
    processing_cost: GivenCost | None = None,
    seed: int = 0,
) -> StreamQueue:
    """Return a new queue of a policy; UnknownPolicyError if there is none of this name.

    `capacity` bounds what waits; for `append-shedding` it is 1,000 unless given, and for
    `adaptive` it is what may wait before the queue conflates. `seed` is for random shedding.

    >>> len(make_queue("append"))
    0
    """

    def append() -> StreamQueue:
        return AppendQueue(
            clock=clock, capacity=capacity, rates=rates, processing_cost=processing_cost
        )

    def append_shedding() -> StreamQueue:
        return AppendQueue(
            clock=clock,
            capacity=SHEDDING_CAPACITY if capacity is None else capacity,
            shedding=RandomShedding(seed),
            rates=rates,
            processing_cost=processing_cost,
        )

    def adaptive() -> StreamQueue:
        return AdaptiveQueue(
            max_waiting=1_000 if capacity is None else capacity,
            clock=clock,
            rates=rates,
            processing_cost=processing_cost,
        )

    def update() -> StreamQueue:
        return UpdateQueue(
            make_scheduler(policy),
            clock=clock,
            capacity=capacity,
            rates=rates,
            processing_cost=processing_cost,
        )

    kinds: dict[str, Callable[[], StreamQueue]] = {
        "append": append,
        "append-shedding": append_shedding,
        "adaptive": adaptive,
    } | dict.fromkeys(SCHEDULERS, update)
    if policy not in kinds:
        raise UnknownPolicyError(policy, POLICIES)
    return kinds[policy]()
