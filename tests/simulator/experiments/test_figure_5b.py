"""Figure 5b: application and queue staleness of 10 keys, against those of one."""

from __future__ import annotations

import math

import pytest

from simulator.experiments.experiment import Row, number, where
from simulator.experiments.figure_5b import EXPERIMENT, verdict

from .golden import assert_drawn, assert_golden, quick_table


def of_keys(keys: int, arrivals: str = "memoryless") -> list[Row]:
    return where(quick_table(EXPERIMENT), keys=keys, arrivals=arrivals)


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


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
    found = verdict(quick_table(EXPERIMENT))
    assert found.held
    assert "10.0 times at load 20" in found.sentence


@pytest.mark.parametrize("of", ["queue", "difference"])
def test_the_verdict_does_not_hold_if_one_key_has_as_much(of: str) -> None:
    factor = {"queue": 0.1, "difference": 10.0}[of]
    table = [
        {**row, of: number(row, of) * (factor if row["keys"] == 10 else 1.0)}
        for row in quick_table(EXPERIMENT)
    ]
    assert verdict(table).held is False


def test_the_verdict_does_not_hold_if_staleness_does_not_grow_linearly() -> None:
    table = [{**row, "application": number(row, "load") ** 3} for row in quick_table(EXPERIMENT)]
    assert verdict(table).held is False


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="load factor", y_label="staleness (number of updates)")
