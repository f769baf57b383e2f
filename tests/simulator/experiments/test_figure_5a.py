"""Figure 5a: application and queue staleness of a single key."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import column, number, where
from simulator.experiments.figure_5a import EXPERIMENT, verdict

from .golden import assert_drawn, assert_golden, quick_table


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


def test_memoryless_arrivals_give_the_exact_values() -> None:
    rows = where(quick_table(EXPERIMENT), arrivals="memoryless")
    for of in ("queue", "application"):
        exact = column(rows, f"exact_{of}")
        assert column(rows, of) == pytest.approx(exact, rel=0.03)


def test_with_an_arrival_in_each_tick_whole_loads_have_closed_forms() -> None:
    for row in where(quick_table(EXPERIMENT), arrivals="ticks"):
        load = number(row, "load")
        if load <= 1:
            queue, application = 0.0, load**2 / 2.0
        else:
            queue, application = (load - 1.0) ** 2 / (2.0 * load), 1.5 * load - 1.0
        assert number(row, "queue") == pytest.approx(queue, rel=0.005)
        assert number(row, "application") == pytest.approx(application, rel=0.005)


def test_the_verdict_says_that_both_grow_linearly() -> None:
    found = verdict(quick_table(EXPERIMENT))
    assert found.held
    assert "both grow linearly" in found.sentence


@pytest.mark.parametrize("of", ["queue", "application", "difference"])
@pytest.mark.parametrize("power", [-1, 2])
def test_the_verdict_does_not_hold_if_one_does_not_grow_linearly(of: str, power: int) -> None:
    table = [{**row, of: number(row, "load") ** power} for row in quick_table(EXPERIMENT)]
    found = verdict(table)
    assert found.held is False
    assert "do not grow linearly" in found.sentence


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="load factor", y_label="staleness (number of updates)")
