"""The registry of policies: which class each public name stands for.

The command lines, the service and the simulator choose policies by these names.
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
"""The scheduler classes by name."""

POLICIES: Final = ("append", "append-shedding", "adaptive", *SCHEDULERS)
"""The names of all policies. An update queue is named after its scheduler."""

DEFAULT_POLICY: Final = StalenessIndexScheduler.name
SHEDDING_CAPACITY: Final = 1_000


def make_scheduler(name: str = DEFAULT_POLICY) -> Scheduler:
    """Return a new scheduler with its default options.

    `name` is a key of `SCHEDULERS`. Another name raises UnknownPolicyError.

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
    """Return a new queue of the policy with this name.

    `policy` is one of `POLICIES`. Another name raises UnknownPolicyError.
    `capacity` is the largest number of waiting updates or keys. By default there is no limit, but
    1,000 for "append-shedding". For "adaptive", the queue conflates above it (default 1,000).
    `seed` is for the random numbers of "append-shedding".
    `clock`, `rates` and `processing_cost` are those of every `StreamQueue`.

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
