"""The iterations of a key: two lines divided, by hand and in a run."""

from __future__ import annotations

import pytest

from simulator.experiments.staleness_iterations import Iteration, iterations
from simulator.model.policy_run import PolicyRun
from simulator.model.staleness_lines import Segment, staleness_lines
from simulator.workloads.key_rates import zipf
from simulator.workloads.sources import Poisson

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


def test_what_overlaps_counts_for_the_next_iteration() -> None:
    # a is processed from 1 to 4; b comes at 2, so it is 2 old by then, and is processed 4 to 7
    application = [Segment(0.0, 4.0, 0.0), Segment(4.0, 7.0, 2.0), Segment(7.0, 8.0, None)]
    queue = [
        *[Segment(0.0, 1.0, 0.0), Segment(1.0, 2.0, None)],
        *[Segment(2.0, 4.0, 2.0), Segment(4.0, 8.0, None)],
    ]
    first, second = iterations(application, queue)
    assert first == Iteration(0.0, 1.0, 4.0, difference=8.0 - 2.0 - 0.5, overlap=2.0)
    assert second == Iteration(2.0, 4.0, 7.0, difference=12.5 - 2.0, overlap=0.0)


def test_an_iteration_that_is_not_done_is_left_out() -> None:
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
