"""Figure 4: application and queue staleness of one key, and the area between them."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Row, column, number, where
from simulator.experiments.figure_4 import (
    COLUMNS,
    EXPERIMENT,
    Iteration,
    is_within,
    iterations,
    verdict,
)
from simulator.model.policy_run import PolicyRun
from simulator.model.staleness_lines import Segment, staleness_lines
from simulator.workloads.sources import Poisson
from simulator.workloads.workload import zipf

from .golden import quick_table


def test_all_rows_have_the_same_columns() -> None:
    for row in quick_table(EXPERIMENT):
        assert tuple(row) == COLUMNS


def test_the_plot_has_iterations_with_and_without_overlap() -> None:
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
    from simulator.experiments.experiment import plot

    table = [{**row, "overlap": 0.0} for row in quick_table(EXPERIMENT)]
    texts = [text.get_text() for text in plot(EXPERIMENT, table).axes[0].texts]
    assert "Δ" in texts
    assert "O" not in texts


# time         0   1   2   3   4   5   6   7   8   9
# enqueued     a           b               c
# dequeued         a               b       c
# delivered                a               b       c
# application  0-----------3
#                          0---------------4
#                                          0-------2
# queue        0---1       0-------2       0
APART = (
    [
        *[Segment(0.0, 3.0, 0.0), Segment(3.0, 7.0, 3.0)],
        *[Segment(7.0, 9.0, 7.0), Segment(9.0, 9.5, None)],
    ],
    [
        *[Segment(0.0, 1.0, 0.0), Segment(1.0, 3.0, None), Segment(3.0, 5.0, 3.0)],
        *[Segment(5.0, 7.0, None), Segment(7.0, 7.0, 7.0), Segment(7.0, 9.5, None)],
    ],
)


def test_without_overlap_the_difference_is_wait_times_cost_and_half_of_cost_squared() -> None:
    first, second, third = iterations(*APART)
    assert first == Iteration(0.0, 1.0, 3.0, difference=1.0 * 2.0 + 2.0, overlap=0.0)
    assert second == Iteration(3.0, 5.0, 7.0, difference=2.0 * 2.0 + 2.0, overlap=0.0)
    assert third == Iteration(7.0, 7.0, 9.0, difference=0.0 + 2.0, overlap=0.0)
    assert (second.wait, second.cost) == (2.0, 2.0)


def test_the_overlap_counts_for_the_next_iteration() -> None:
    # a is processed from 1 to 4; b comes at 2, so it is 2 old by then, and is processed 4 to 7
    application = [Segment(0.0, 4.0, 0.0), Segment(4.0, 7.0, 2.0), Segment(7.0, 8.0, None)]
    queue = [
        *[Segment(0.0, 1.0, 0.0), Segment(1.0, 2.0, None)],
        *[Segment(2.0, 4.0, 2.0), Segment(4.0, 8.0, None)],
    ]
    first, second = iterations(application, queue)
    assert first == Iteration(0.0, 1.0, 4.0, difference=8.0 - 2.0 - 0.5, overlap=2.0)
    assert second == Iteration(2.0, 4.0, 7.0, difference=12.5 - 2.0, overlap=0.0)


def test_an_unfinished_iteration_is_left_out() -> None:
    assert list(iterations([Segment(0.0, 2.0, 0.0)], [Segment(0.0, 2.0, 0.0)])) == []


@pytest.mark.parametrize("costs", ["fixed", "exponential"])
def test_the_differences_of_all_iterations_are_that_of_the_areas(costs: str) -> None:
    run = PolicyRun(
        policy="index",
        workload=Poisson(zipf(4, 1.0)),
        cost=2.0,
        cost_distribution=costs,
        updates=500,
        is_logged=True,
    )
    simulation, subscriber = run.set_up()
    simulation.run(run.updates)
    simulation.run_on(simulation.now + 100.0)  # until all is delivered
    log = subscriber.log
    assert log is not None
    application = staleness_lines(log, of="application", end=simulation.now)
    queue = staleness_lines(log, of="queue", end=simulation.now)
    for key, line in application.items():
        found = list(iterations(line, queue[key]))
        areas = sum(part.area for part in line) - sum(part.area for part in queue[key])
        assert sum(one.difference for one in found) == pytest.approx(areas)
        if costs == "fixed":
            assert [one.cost for one in found] == pytest.approx([2.0] * len(found))
    delivered = subscriber.queue.statistics().delivered
    assert sum(len(list(iterations(application[key], queue[key]))) for key in queue) == delivered
