"""The server of a queue of windows: what it takes, how long that takes, and what it delivers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from simulator.model.simulation import LOOPS, Simulation
from simulator.model.window_subscriber import WindowSubscriber
from simulator.workloads.recorded import Recorded
from upstream import (
    Aggregate,
    AppendWindowQueue,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    WindowBuffer,
    WindowMark,
    WindowQueue,
    WindowSpecification,
)

OVERLAPPING = WindowSpecification(size=3, slide=1, tick=1)
TUMBLING = WindowSpecification(size=2, slide=2)


def simulation_of(times: list[float], loop: str = "plain") -> Simulation:
    return Simulation(Recorded(["k"], times=times, codes=[0] * len(times)), loop=loop)


def update_queue(simulation: Simulation, buffer: type[WindowBuffer]) -> WindowQueue:
    return WindowQueue(TUMBLING, buffer, InPlaceScheduler(), clock=simulation.clock)


def run_lazy(loop: str = "plain") -> WindowSubscriber:
    """Run tuples at 0 to 4, the last of which closes the second window, until 10."""
    simulation = simulation_of([0.0, 1.0, 2.0, 3.0, 4.0], loop)
    queue = update_queue(simulation, LazyWindowBuffer)
    subscriber = simulation.add_windows("lazy", queue, cost=1.5, is_logged=True)
    simulation.run(5)
    simulation.run_on(10.0)
    return subscriber


@pytest.mark.parametrize("loop", LOOPS)
def test_a_tuple_takes_its_cost_and_a_mark_without_one_takes_none(loop: str) -> None:
    # arrives   0  1  2  3  4
    # closes          [0,2) [2,4)
    # leaves          0----1----*2----3----*      * is a bare CLOSE
    trace = run_lazy(loop).trace
    assert trace is not None
    assert [(time, update and update.time) for time, (update, _) in trace.left] == [
        (2.0, 0.0),
        (3.5, 1.0),
        (5.0, None),
        (5.0, 2.0),
        (6.5, 3.0),
        (8.0, None),
    ]
    assert [mark for _, (update, mark) in trace.left if update is None] == [WindowMark.CLOSE] * 2


def test_a_result_is_delivered_when_the_last_tuple_of_its_window_is_done() -> None:
    subscriber = run_lazy()
    assert subscriber.trace is not None
    assert subscriber.trace.results == [(5.0, ("k", 0.0, 2.0, 2)), (8.0, ("k", 2.0, 4.0, 2))]
    assert subscriber.queue.statistics().delivered == 2


def test_the_server_sleeps_while_the_next_tuple_of_its_window_has_not_come() -> None:
    simulation = simulation_of([0.0, 1.0, 2.0])
    queue = update_queue(simulation, EagerWindowBuffer)
    subscriber = simulation.add_windows("eager", queue, cost=0.25, is_logged=True)
    simulation.run(3)
    assert len(subscriber.bell.sleepers) == 0
    simulation.run_on(5.0)
    assert len(subscriber.bell.sleepers) == 1
    assert subscriber.trace is not None
    assert [time for time, _ in subscriber.trace.left] == [0.0, 1.0, 2.0, 2.0]
    assert subscriber.trace.results == [(2.0, ("k", 0.0, 2.0, 2))]


def test_a_tuple_costs_as_often_as_there_are_windows_that_it_updates() -> None:
    simulation = simulation_of([float(time) for time in range(6)])
    queue = AppendWindowQueue(OVERLAPPING, clock=simulation.clock)
    subscriber = simulation.add_windows("append", queue, cost=0.25, is_logged=True)
    simulation.run(6)
    simulation.run_on(100.0)
    assert subscriber.trace is not None
    tuples = [update.time for _, (update, _) in subscriber.trace.left if update is not None]
    assert tuples == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    results = [time for time, _ in subscriber.trace.results]
    assert results == [2.75, 3.75, 4.75, 5.75], "three windows are open from the third tuple on"
    assert subscriber.aggregate.steps == 1 + 2 + 3 + 3 + 3 + 3


def test_costs_add_up_while_the_server_is_busy() -> None:
    simulation = simulation_of([float(time) for time in range(6)])
    queue = AppendWindowQueue(OVERLAPPING, clock=simulation.clock)
    subscriber = simulation.add_windows("append", queue, cost=1.0, is_logged=True)
    simulation.run(6)
    simulation.run_on(100.0)
    assert subscriber.trace is not None
    times = [time for time, (update, _) in subscriber.trace.left if update is not None]
    assert [later - earlier for earlier, later in pairwise(times)] == [1.0, 2.0, 3.0, 3.0, 3.0]


def test_nothing_is_logged_unless_asked_for() -> None:
    simulation = simulation_of([0.0, 1.0])
    subscriber = simulation.add_windows(
        "lazy", update_queue(simulation, LazyWindowBuffer), cost=1.0
    )
    simulation.run(2)
    assert subscriber.trace is None


def test_tuples_are_counted_unless_another_aggregate_is_given() -> None:
    simulation = simulation_of([0.0])
    loop, queue = simulation._loop, update_queue(simulation, LazyWindowBuffer)
    counting = WindowSubscriber("count", queue, loop, costs=iter([]))
    adding = WindowSubscriber("sum", queue, loop, costs=iter([]), aggregate=Aggregate("sum"))
    assert (counting.aggregate.name, adding.aggregate.name) == ("count", "sum")
