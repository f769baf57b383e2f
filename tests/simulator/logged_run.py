"""A run of one policy of which every event is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from simulator.model.measures import Measures
from simulator.model.policy_run import PolicyRun
from simulator.workloads.recorded import Recorded
from simulator.workloads.sources import Bernoulli, Bursts, FixedInterval, Poisson, RoundRobin
from simulator.workloads.workload import Workload, uniform, zipf
from upstream.events import Event

WORKLOADS: dict[str, Workload] = {
    "Poisson": Poisson(zipf(30, 0.9)),
    "fixed interval": FixedInterval(zipf(30, 0.9)),
    "several per tick": Bernoulli(zipf(30, 0.5), tick=4.0),
    "bursts": Bursts(zipf(30, 0.9), bursting=10),
    "round robin": RoundRobin(uniform(7)),
}
"""Arrivals of every kind; in most of them much happens at one moment."""


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """What happened in a run, and what was measured of it."""

    events: list[Event]
    measures: Measures
    end: float


def logged_run(run: PolicyRun) -> LoggedRun:
    """Run a policy that is to be logged, without a warm-up."""
    assert run.is_logged
    simulation, subscriber = run.set_up()
    simulation.run(run.updates)
    assert subscriber.log is not None
    return LoggedRun(subscriber.log, simulation.measures(subscriber), simulation.now)


def recorded(arrivals: list[tuple[int, int]], keys: int) -> Recorded:
    """Return arrivals given as steps of time and keys."""
    steps, codes = zip(*arrivals, strict=True)
    return Recorded(range(keys), times=np.cumsum(steps).astype(float), codes=codes)


Load = tuple[float, int, str]
"""The cost of an update, the servers, and how costs are distributed."""


def run_at(
    load: Load, policy: str, workload: str, *, updates: int, capacity: int | None = None
) -> PolicyRun:
    """Return a run to be logged, of a policy on one of the workloads, at a load."""
    cost, servers, distribution = load
    return PolicyRun(
        policy=policy,
        workload=WORKLOADS[workload],
        cost=cost,
        cost_distribution=distribution,
        servers=servers,
        updates=updates,
        capacity=capacity,
        is_logged=True,
    )


@st.composite
def short_runs(
    draw: st.DrawFn, policies: Sequence[str], capacity_of: Callable[[str], int | None]
) -> PolicyRun:
    """Draw a run to be logged, with a few arrivals of which many come at one moment."""
    policy = draw(st.sampled_from(policies))
    arrival = st.tuples(st.integers(0, 3), st.integers(0, 3))
    arrivals = draw(st.lists(arrival, min_size=1, max_size=40))
    return PolicyRun(
        policy=policy,
        workload=recorded(arrivals, keys=4),
        cost=draw(st.sampled_from([0.5, 1.0, 1.1, 2.0, 3.0])),
        servers=draw(st.integers(1, 3)),
        updates=len(arrivals),
        capacity=capacity_of(policy),
        is_logged=True,
    )
