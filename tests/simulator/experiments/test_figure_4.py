"""Figure 4: application and queue staleness of one key, and the area between them."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Row, column, number, where
from simulator.experiments.figure_4 import COLUMNS, EXPERIMENT, is_within, verdict
from simulator.experiments.staleness_iterations import Iteration

from .golden import quick_table


def test_all_rows_have_the_same_columns() -> None:
    for row in quick_table(EXPERIMENT):
        assert tuple(row) == COLUMNS


def test_what_is_drawn_has_iterations_with_and_without_overlap() -> None:
    overlaps = column(where(quick_table(EXPERIMENT), what="iteration"), "overlap")
    assert len(overlaps) == 5
    assert min(overlaps) == 0.0
    assert max(overlaps) > 0.0


def test_the_drawn_lines_fall_where_the_iterations_say() -> None:
    table = quick_table(EXPERIMENT)
    for row in where(table, what="iteration"):
        enqueue, wait, cost = number(row, "time"), number(row, "wait"), number(row, "cost")
        for of, height in (("queue", wait), ("application", wait + cost)):
            time = enqueue + height
            heights = [
                number(corner, "staleness")
                for corner in where(table, what=of)
                if number(corner, "time") == pytest.approx(time)
            ]
            assert max(heights) == pytest.approx(height)
        assert enqueue in column(where(table, what="arrival"), "time")


def test_the_mean_difference_is_that_of_the_reports_formula() -> None:
    for row in where(quick_table(EXPERIMENT), what="run", costs="fixed"):
        wait, cost = number(row, "wait"), number(row, "cost")
        formula = wait * cost + cost**2 / 2.0 - number(row, "overlap")
        assert number(row, "difference") == pytest.approx(formula)


@pytest.mark.parametrize(
    ("difference", "expected"), [(5.9, False), (6.0, True), (8.0, True), (8.1, False)]
)
def test_the_bounds_are_wait_times_cost_and_half_of_cost_squared_more(
    difference: float, expected: bool
) -> None:
    one = Iteration(1.0, 4.0, 6.0, difference=difference, overlap=0.0)
    assert is_within(one) is expected


def test_the_verdict_counts_iterations_and_says_what_random_costs_do() -> None:
    table = quick_table(EXPERIMENT)
    found = verdict(table)
    done = int(sum(column(where(table, what="run"), "iterations")))
    assert found.held
    assert f"over {done:,} of {done:,} iterations in 5 runs" in found.sentence
    assert "above the upper bound in 1 of 2 runs" in found.sentence


def test_the_verdict_does_not_hold_if_one_iteration_is_out_of_bounds() -> None:
    table = list(quick_table(EXPERIMENT))
    first: Row = table[0]
    table[0] = {**first, "within_bounds": int(number(first, "within_bounds")) - 1}
    assert verdict(table).held is False


def test_it_is_drawn_if_the_marked_iteration_has_no_overlap() -> None:
    from simulator.experiments.plots import plot

    table = [{**row, "overlap": 0.0} for row in quick_table(EXPERIMENT)]
    texts = [text.get_text() for text in plot(EXPERIMENT, table).axes[0].texts]
    assert "Δ" in texts
    assert "O" not in texts
