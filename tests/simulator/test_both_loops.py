"""Simulations on the plain loop are those on SimPy, to the last bit.

The same arrivals, the same policy and the same servers give the same events in the same order at
the same times. So whatever is measured is the same, and SimPy's results hold for the plain loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from simulator.model.policy_run import PolicyRun
from simulator.model.simulation import Simulation
from simulator.model.subscriber import AnySubscriber
from simulator.workloads.sources import FixedInterval, Poisson
from simulator.workloads.workload import Workload, zipf
from upstream import (
    POLICIES,
    AppendWindowQueue,
    Clock,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    StalenessIndexScheduler,
    WindowBuffer,
    WindowedQueue,
    WindowQueue,
    WindowSpecification,
    make_queue,
)

from .logged_run import WORKLOADS, Load, logged_run, run_at, short_runs
from .pairwise import pairwise

LOADS: dict[str, Load] = {
    "load 0.5": (0.5, 1, "fixed"),
    "load 1": (1.0, 1, "fixed"),
    "load 1.2, exponential": (1.2, 1, "exponential"),
    "load 6": (6.0, 1, "fixed"),
    "3 servers, load 2/3": (2.0, 3, "fixed"),
    "3 servers, load 4, exponential": (12.0, 3, "exponential"),
}


def assert_same_on_both(run: PolicyRun) -> None:
    plain, simpy = (logged_run(replace(run, loop=loop)) for loop in ("plain", "simpy"))
    assert plain.events == simpy.events
    assert plain.end == simpy.end
    assert plain.measures == simpy.measures
    assert len(plain.events) >= run.updates


@pytest.mark.parametrize(("policy", "workload", "load"), pairwise(POLICIES, WORKLOADS, LOADS))
def test_both_loops_log_the_same_events(policy: str, workload: str, load: str) -> None:
    assert_same_on_both(run_at(LOADS[load], policy, workload, updates=600, capacity=20))


@given(short_runs(POLICIES, lambda _: 3))
def test_both_loops_log_the_same_events_of_any_arrivals(run: PolicyRun) -> None:
    assert_same_on_both(run)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_both_loops_stay_the_same_in_a_long_run(policy: str) -> None:
    run = PolicyRun(policy=policy, workload=Poisson(zipf(200, 0.9)), cost=1.3, updates=6_000)
    assert_same_on_both(replace(run, is_logged=True))


WINDOWS = WindowSpecification(size=60.0, slide=20.0)


def window_queue(buffer: type[WindowBuffer] | None, clock: Clock) -> WindowedQueue[Any]:
    """Return a queue of windows; with no buffer, of all of them."""
    if buffer is None:
        return AppendWindowQueue(WINDOWS, clock=clock)
    return WindowQueue(WINDOWS, buffer, InPlaceScheduler(), clock=clock)


@pytest.mark.parametrize("cost", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("workload", [Poisson(zipf(6, 0.9)), FixedInterval(zipf(6, 0.9))])
@pytest.mark.parametrize("buffer", [LazyWindowBuffer, EagerWindowBuffer, None])
def test_the_same_tuples_leave_and_the_same_results_are_delivered_on_both_loops(
    buffer: type[WindowBuffer] | None, workload: Workload, cost: float
) -> None:
    measured, traces = [], []
    for loop in ("plain", "simpy"):
        simulation = Simulation(workload, loop=loop)
        queue = window_queue(buffer, simulation.clock)
        subscriber = simulation.add_windows("windows", queue, cost=cost, is_logged=True)
        simulation.run(3_000)
        measured.append(simulation.measures(subscriber))
        assert subscriber.trace is not None
        traces.append((subscriber.trace.left, subscriber.trace.results))
    plain, simpy = measured
    assert plain == simpy
    assert traces[0] == traces[1]
    assert plain.statistics.delivered > 10
    assert plain.application.mean > 0 or cost < 1
    assert plain.statistics.is_balanced


def test_windows_and_updates_fed_by_one_stream_are_the_same_on_both_loops() -> None:
    measured = []
    for loop in ("plain", "simpy"):
        simulation = Simulation(Poisson(zipf(6, 0.9)), loop=loop)
        windows = WindowQueue(
            WINDOWS, LazyWindowBuffer, StalenessIndexScheduler(), clock=simulation.clock
        )
        subscribers: list[AnySubscriber] = [
            simulation.add_windows("windows", windows, cost=0.5),
            simulation.add("updates", make_queue(clock=simulation.clock), cost=3.0, servers=2),
        ]
        simulation.run(2_000)
        measured.append([simulation.measures(subscriber) for subscriber in subscribers])
    assert measured[0] == measured[1]
