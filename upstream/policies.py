"""The registry of policies: which class each public name stands for.

The command lines, the service and the simulator choose policies by these names.
"""

from __future__ import annotations

from typing import Final, Generic, TypedDict

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
"""The bound of "append-shedding" and "adaptive" if none is given."""


class _Options(TypedDict, Generic[AnyKey]):
    """The options that all kinds of queues take."""

    clock: Clock | None
    rates: PerKey[AnyKey] | None
    processing_cost: GivenCost | None


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
    options: _Options[AnyKey] = {
        "clock": clock,
        "rates": rates,
        "processing_cost": processing_cost,
    }
    if policy in SCHEDULERS:
        return UpdateQueue(make_scheduler(policy), capacity=capacity, **options)
    bound = SHEDDING_CAPACITY if capacity is None else capacity
    match policy:
        case "append":
            return AppendQueue(capacity=capacity, **options)
        case "append-shedding":
            return AppendQueue(capacity=bound, shedding=RandomShedding(seed), **options)
        case "adaptive":
            return AdaptiveQueue(max_waiting=bound, **options)
    raise UnknownPolicyError(policy, POLICIES)
