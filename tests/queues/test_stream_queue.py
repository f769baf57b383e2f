"""What a queue of any kind is made with, and that its closed methods are all known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from upstream import (
    POLICIES,
    CostError,
    InPlaceScheduler,
    ManualClock,
    ParameterError,
    RateError,
    StreamQueue,
    SystemClock,
    Update,
    UpdateQueue,
    make_queue,
)
from upstream.queues import AdaptiveQueue, AppendQueue

from .setting import USES, next_of


def update_queue(**options: object) -> StreamQueue:
    return UpdateQueue(InPlaceScheduler(), **options)  # type: ignore[arg-type]


def append_queue(**options: object) -> StreamQueue:
    return AppendQueue(**options)  # type: ignore[arg-type]


def adaptive_queue(**options: object) -> StreamQueue:
    return AdaptiveQueue(**options)  # type: ignore[arg-type]


every_kind = pytest.mark.parametrize("make", [update_queue, append_queue, adaptive_queue])
Make = Callable[..., StreamQueue]

NO_NUMBERS = ("5",)
NOT_POSITIVE = (0, -1, -0.5, math.nan, math.inf)


@every_kind
@pytest.mark.parametrize("name", ["time_to_live", "forget_after"])
@pytest.mark.parametrize("seconds", [*NOT_POSITIVE, *NO_NUMBERS])
def test_an_age_is_a_finite_number_above_zero(make: Make, name: str, seconds: object) -> None:
    with pytest.raises(ParameterError) as raised:
        make(**{name: seconds})
    assert raised.value.name == name
    assert raised.value.value is seconds


@every_kind
@pytest.mark.parametrize("limit", [*NOT_POSITIVE, *NO_NUMBERS, 2.0, None])
def test_the_in_process_limit_is_a_whole_number_above_zero(make: Make, limit: object) -> None:
    with pytest.raises(ParameterError) as raised:
        make(in_process_limit=limit)
    assert raised.value.name == "in_process_limit"


@pytest.mark.parametrize("make", [update_queue, append_queue])
@pytest.mark.parametrize("capacity", [*NOT_POSITIVE, *NO_NUMBERS, 2.0])
def test_the_capacity_is_a_whole_number_above_zero(make: Make, capacity: object) -> None:
    with pytest.raises(ParameterError) as raised:
        make(capacity=capacity)
    assert raised.value.name == "capacity"


@every_kind
@pytest.mark.parametrize("forgetting", [0, -1, 1.5, math.nan, math.inf, *NO_NUMBERS])
@pytest.mark.parametrize("rates", [None, {"IBM": 1.0}])
def test_forgetting_is_a_part_of_one(
    make: Make, forgetting: object, rates: dict[str, float] | None
) -> None:
    with pytest.raises(ParameterError) as raised:
        make(forgetting=forgetting, rates=rates)
    assert raised.value.name == "forgetting"


@every_kind
@pytest.mark.parametrize("cost", [-1, math.nan, math.inf, *NO_NUMBERS])
def test_a_processing_cost_is_a_finite_number_from_zero(make: Make, cost: object) -> None:
    with pytest.raises(CostError, match="processing_cost"):
        make(processing_cost=cost)


@every_kind
@pytest.mark.parametrize("rate", [-1, math.nan, math.inf, *NO_NUMBERS])
def test_a_mapping_of_rates_is_checked_at_once(make: Make, rate: object) -> None:
    with pytest.raises(RateError, match="'MSFT'"):
        make(rates={"IBM": 1.0, "MSFT": rate})


@every_kind
@pytest.mark.parametrize("rate", [-1, math.nan, math.inf, *NO_NUMBERS])
def test_a_function_of_rates_is_checked_before_a_key_is_taken(make: Make, rate: object) -> None:
    queue = make(rates=lambda key: 1.0 if key == "IBM" else rate)
    queue.enqueue("IBM", 24.0)
    before = queue.statistics()
    with pytest.raises(RateError, match="'MSFT'"):
        queue.enqueue("MSFT", 50.0)
    with pytest.raises(RateError, match="'MSFT'"):
        queue.enqueue_many(["IBM", "MSFT"], [25.0, 50.0])
    assert queue.statistics() == before
    assert next_of(queue).value == 24.0


@every_kind
def test_rates_are_a_mapping_or_a_function(make: Make) -> None:
    with pytest.raises(ParameterError):
        make(rates=5)


@every_kind
@pytest.mark.parametrize("limit", [-1, 2.0, "5", None, math.nan])
def test_a_batch_is_a_whole_number_of_updates(make: Make, limit: object) -> None:
    queue = make()
    queue.enqueue("IBM", 24.0)
    with pytest.raises(ParameterError) as raised:
        queue.dequeue_many(limit)  # type: ignore[arg-type]
    assert raised.value.name == "limit"
    assert len(queue) == 1


@every_kind
def test_staleness_by_key_is_of_the_queue_or_the_application(make: Make) -> None:
    with pytest.raises(ParameterError) as raised:
        make().staleness_by_key(of="server")
    assert raised.value.name == "of"


@pytest.mark.parametrize("policy", POLICIES)
def test_without_a_clock_a_queue_uses_the_system_clock(policy: str) -> None:
    before = SystemClock().now()
    queue = make_queue(policy)
    queue.enqueue("IBM", 24.0)
    update = next_of(queue)
    after = SystemClock().now()
    assert before - 1.0 <= update.time <= after + 1.0, "a second of wall clock steps is allowed"
    queue.deliver(update)
    application = queue.application_staleness()  # first, for both go on falling
    assert 0.0 <= queue.queue_staleness() <= application < 60.0
    queue._check()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_late_delivery_of_the_older_of_two_changes_nothing_for_the_application(
    policy: str, clock: ManualClock
) -> None:
    queue = make_queue(policy, clock=clock)
    updates: list[Update] = []
    for number in range(2):
        queue.enqueue("IBM", number)
        updates += queue.dequeue_many(1)
        clock.advance(1.0)
    queue.deliver(updates[1])
    assert queue.application_staleness("IBM") * 2.0 == pytest.approx(2.0)
    clock.advance(3.0)
    queue.deliver(updates[0])
    clock.advance(3.0)
    assert queue.application_staleness("IBM") * 8.0 == pytest.approx(2.0)


def test_every_public_method_is_tested_on_a_closed_queue() -> None:
    readable = {
        *{"close", "statistics", "is_attached", "is_closed", "processing_cost", "stream"},
        *{"clock_steps_back", "key_count", "mean_staleness"},
    }
    settings = {"capacity", "time_to_live"}
    public = {name for name in dir(StreamQueue) if not name.startswith("_")}
    assert public == (set(USES) - {"__len__"}) | readable | settings
