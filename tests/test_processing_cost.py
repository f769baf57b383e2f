"""The cost of an update is measured from its dequeue to its delivery, alone or with others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import pytest

from upstream.errors import CostError
from upstream.statistics import ProcessingCost, check_cost


def known(cost: float | None) -> float:
    assert cost is not None
    return cost


def deliver_all(cost: ProcessingCost, deliveries: Iterable[tuple[float, float]]) -> float | None:
    for dequeued_at, now in deliveries:
        cost.delivered(dequeued_at, now)
    return cost.seconds()


def test_a_cost_that_is_given_is_not_measured() -> None:
    assert deliver_all(ProcessingCost(0.25), [(0.0, 5.0)]) == 0.25
    assert deliver_all(ProcessingCost(0), [(0.0, 5.0)]) is None


def test_a_cost_is_unknown_until_a_delivery_took_time() -> None:
    cost = ProcessingCost(None)
    assert cost.seconds() is None
    assert deliver_all(cost, [(3.0, 3.0), (4.0, 4.0)]) is None
    assert known(deliver_all(cost, [(4.0, 7.0)])) > 0


def test_the_cost_is_the_time_from_dequeue_to_delivery() -> None:
    cost = ProcessingCost(None)
    assert deliver_all(cost, [(0.0, 2.0)]) == 2.0
    assert deliver_all(cost, [(10.0, 14.0)]) == 3.0, "time in which nothing was in process counted"
    assert deliver_all(cost, [(14.0, 15.0)]) == pytest.approx(7 / 3)


def test_the_cost_of_updates_in_process_at_once_is_the_time_between_deliveries() -> None:
    """Two workers that need 4 s each deliver two updates in 4 s."""
    in_step = [(4.0 * (number // 2), 4.0 * (number // 2 + 1)) for number in range(400)]
    assert deliver_all(ProcessingCost(None), in_step) == pytest.approx(2.0, rel=0.02)
    in_turn = [(2.0 * number, 2.0 * number + 4.0) for number in range(400)]
    assert deliver_all(ProcessingCost(None), in_turn) == pytest.approx(2.0, rel=0.02)


def test_an_update_that_is_delivered_before_an_older_one_counts_once() -> None:
    assert deliver_all(ProcessingCost(None), [(5.0, 6.0), (0.0, 8.0)]) == pytest.approx(1.5)


@pytest.mark.parametrize("size", [2, 10, 100, 1000])
@pytest.mark.parametrize("pause", [0.0, 30.0])
def test_a_batch_gives_what_one_update_costs_when_it_is_delivered_one_by_one(
    size: int, pause: float
) -> None:
    deliveries = [
        (begin, begin + 0.25 * number)
        for begin in (batch * (0.25 * size + pause) for batch in range(5))
        for number in range(1, size + 1)
    ]
    assert deliver_all(ProcessingCost(None), deliveries) == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize("size", [2, 10, 100, 1000])
@pytest.mark.parametrize("pause", [0.0, 30.0])
def test_a_batch_gives_what_one_update_costs_when_it_is_delivered_as_a_whole(
    size: int, pause: float
) -> None:
    cost = ProcessingCost(None)
    for batch in range(20):
        begin = batch * (0.25 * size + pause)
        seconds = deliver_all(cost, [(begin, begin + 0.25 * size)] * size)
        assert seconds == pytest.approx(0.25)


def test_deliveries_a_hundredth_of_an_updates_time_apart_count_as_one_group() -> None:
    """Three updates take 3.02 s together, and are delivered one after the other in 0.02 s."""
    together = [(0.0, 3.0), (0.0, 3.01), (0.0, 3.02)]
    assert deliver_all(ProcessingCost(None), together) == pytest.approx(3.02 / 3)
    # What comes 0.5 s later took these 0.5 s.
    assert deliver_all(ProcessingCost(None), [*together, (0.0, 3.52)]) == pytest.approx(3.52 / 4)
    faded = deliver_all(ProcessingCost(None, 1.0), [*together, (0.0, 3.52)])
    assert faded == pytest.approx(0.5)


def test_an_update_dequeued_after_the_last_delivery_belongs_to_no_group() -> None:
    """With forgetting of one the last group alone counts."""
    apart = [(0.0, 4.0), (4.01, 4.02)]
    assert deliver_all(ProcessingCost(None, 1.0), apart) == pytest.approx(0.01)
    together = [(0.0, 4.0), (0.0, 4.01)]
    assert deliver_all(ProcessingCost(None, 1.0), together) == pytest.approx(4.01 / 2)


def test_a_group_weighs_as_much_as_its_updates() -> None:
    cost = ProcessingCost(None)
    assert deliver_all(cost, [(0.0, 10.0)] * 10) == pytest.approx(1.0)
    assert deliver_all(cost, [(10.0, 22.0)]) == pytest.approx((10 * 1.0 + 12.0) / 11)
    forgetful = ProcessingCost(None, 0.2)
    deliver_all(forgetful, [(0.0, 10.0)] * 10)
    seconds = deliver_all(forgetful, [(10.0, 16.0)] * 3)
    assert seconds == pytest.approx(2.0 - 1.0 * 0.8**3)


@pytest.mark.parametrize("forgetting", [0.02, 0.2])
def test_the_cost_forgets_the_past_at_the_rate_that_was_set(forgetting: float) -> None:
    cost = ProcessingCost(None, forgetting)
    deliver_all(cost, ((float(number), number + 1.0) for number in range(1000)))
    slower = [(1000.0 + 3 * number, 1003.0 + 3 * number) for number in range(20)]
    assert deliver_all(cost, slower) == pytest.approx(3 - 2 * (1 - forgetting) ** 20)


def test_a_cost_function_is_called_each_time_and_replaces_the_measurement() -> None:
    told: list[float | None] = [None, 0.5, 0, 2]
    cost = ProcessingCost(lambda: told.pop(0))
    cost.delivered(0.0, 5.0)
    cost.took(7.0)
    assert [cost.seconds() for _ in range(4)] == [None, 0.5, None, 2.0]
    assert told == []


NO_COSTS = [-1.0, -5e-324, math.nan, math.inf, -math.inf, "1", 1j]


@pytest.mark.parametrize("number", NO_COSTS)
@pytest.mark.parametrize(
    "check",
    [
        lambda number: check_cost("processing_cost", number),
        ProcessingCost,
        lambda number: ProcessingCost(lambda: number).seconds(),
    ],
    ids=["checked", "given", "told"],
)
def test_an_invalid_cost_is_refused(number: float, check: Callable[[float], object]) -> None:
    with pytest.raises(CostError, match="processing_cost") as raised:
        check(number)
    assert raised.value.value is number


@pytest.mark.parametrize("number", [0, 0.0, 3, 1e-300, 1e300])
def test_any_finite_number_that_is_not_negative_is_a_cost(number: float) -> None:
    check_cost("cost", number)
