"""Figure 5: application and queue staleness over the load, of a single key and of 10."""

from __future__ import annotations

import math

import pytest

from simulator.experiments.experiment import Point, Row, Scale, column, number, where
from simulator.experiments.figure_5 import (
    FIGURES,
    LOADS,
    QUICK_LOADS,
    growth,
    judge_both,
    judge_one_key,
    points,
    run,
    staleness_row,
)

from .golden import quick_table

ONE_KEY, BOTH = FIGURES
QUICK = Scale(is_quick=True)


def line(*values: float) -> list[Row]:
    return [{"load": load, "queue": value} for load, value in enumerate(values, start=1)]


def test_both_kinds_of_arrivals_are_measured_at_every_load() -> None:
    assert len(points(Scale())) == 2 * len(LOADS)
    assert len(points(QUICK)) == 2 * len(QUICK_LOADS)
    assert set(QUICK_LOADS) <= set(LOADS)


def test_growth_is_fitted_from_load_2_on() -> None:
    fit = growth(line(100.0, 3.0, 5.0, 7.0), "queue")
    assert fit.slope == pytest.approx(2.0)
    assert fit.r_squared == pytest.approx(1.0)


def test_a_line_explains_little_of_the_variance_of_other_points() -> None:
    fit = growth(line(0.0, 0.0, 4.0, 0.0), "queue")
    assert fit.slope == pytest.approx(0.0)
    assert fit.r_squared == pytest.approx(0.0)


def test_constant_values_have_no_variance_to_explain() -> None:
    assert growth(line(3.0, 3.0, 3.0), "queue").r_squared == 0.0


def test_a_row_has_both_kinds_of_staleness_and_their_difference() -> None:
    point: Point = {"arrivals": "ticks", "load": 3.0}
    row = staleness_row(1, point, run(1, point, QUICK))
    assert list(row) == ["keys", "arrivals", "load", "queue", "application", "difference"]
    assert row["queue"] == pytest.approx(2.0 / 3.0, rel=1e-3)  # 0 to 2, then dequeued, every 3
    assert row["application"] == pytest.approx(3.5, rel=1e-3)  # 2 to 5, every 3
    assert row["difference"] == pytest.approx(3.5 - 2.0 / 3.0, rel=1e-3)


def test_one_key_and_ten_see_the_same_arrival_times() -> None:
    point: Point = {"arrivals": "memoryless", "load": 5.0}
    assert run(1, point, QUICK).elapsed == run(10, point, QUICK).elapsed


def test_memoryless_arrivals_give_the_exact_values() -> None:
    rows = where(quick_table(ONE_KEY), arrivals="memoryless")
    for of in ("queue", "application"):
        exact = column(rows, f"exact_{of}")
        assert column(rows, of) == pytest.approx(exact, rel=0.03)


def test_with_an_arrival_in_each_tick_whole_loads_have_closed_forms() -> None:
    for row in where(quick_table(ONE_KEY), arrivals="ticks"):
        load = number(row, "load")
        if load <= 1:
            queue, application = 0.0, load**2 / 2.0
        else:
            queue, application = (load - 1.0) ** 2 / (2.0 * load), 1.5 * load - 1.0
        assert number(row, "queue") == pytest.approx(queue, rel=0.005)
        assert number(row, "application") == pytest.approx(application, rel=0.005)


def test_the_verdict_says_that_both_grow_linearly() -> None:
    found = judge_one_key(quick_table(ONE_KEY))
    assert found.held
    assert "both grow linearly" in found.sentence


@pytest.mark.parametrize("of", ["queue", "application", "difference"])
@pytest.mark.parametrize("power", [-1, 2])
def test_the_verdict_does_not_hold_if_one_does_not_grow_linearly(of: str, power: int) -> None:
    table = [{**row, of: number(row, "load") ** power} for row in quick_table(ONE_KEY)]
    found = judge_one_key(table)
    assert found.held is False
    assert "do not grow linearly" in found.sentence


def of_keys(keys: int, arrivals: str = "memoryless") -> list[Row]:
    return where(quick_table(BOTH), keys=keys, arrivals=arrivals)


@pytest.mark.parametrize("keys", [1, 10])
def test_in_overload_the_difference_is_that_of_keys_served_in_rounds(keys: int) -> None:
    for row in of_keys(keys):
        load = number(row, "load")
        if load >= 5:
            in_rounds = load - keys / load * (1.0 - math.exp(-load / keys))
            assert load - 1 < in_rounds < load
            assert number(row, "difference") == pytest.approx(in_rounds, rel=0.01)


def test_below_load_1_the_number_of_keys_does_affect_the_difference() -> None:
    for one, many in zip(of_keys(1), of_keys(10), strict=True):
        if number(one, "load") < 1:
            assert number(many, "difference") < 0.2 * number(one, "difference")


def test_queue_staleness_is_not_below_its_bound() -> None:
    for row in of_keys(1) + of_keys(10):
        for of in ("queue", "application"):
            assert number(row, of) >= 0.99 * number(row, f"{of}_memoryless_bound")


def test_the_verdict_compares_10_keys_with_one() -> None:
    found = judge_both(quick_table(BOTH))
    assert found.held
    assert "10.0 times at load 20" in found.sentence


@pytest.mark.parametrize("of", ["queue", "difference"])
def test_the_verdict_does_not_hold_if_one_key_has_as_much(of: str) -> None:
    factor = {"queue": 0.1, "difference": 10.0}[of]
    table = [
        {**row, of: number(row, of) * (factor if row["keys"] == 10 else 1.0)}
        for row in quick_table(BOTH)
    ]
    assert judge_both(table).held is False


def test_the_verdict_on_10_keys_does_not_hold_if_staleness_does_not_grow_linearly() -> None:
    table = [{**row, "application": number(row, "load") ** 3} for row in quick_table(BOTH)]
    assert judge_both(table).held is False
