"""How fast the simulator is: updates per second and core, on SimPy and on the plain loop.

The queues are the library's; the rest of the time is drawing arrivals, the event loop, and two
events per update that is served. The least of three rounds counts, since others may be using the
machine.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.model.measures import Measures
from simulator.model.policy_run import PolicyRun
from simulator.workloads.sources import Poisson
from simulator.workloads.workload import zipf
from tests.benchmarks.measure import Table, timed

pytestmark = pytest.mark.benchmark

UPDATES = 100_000
SHORT = 5_000
ROUNDS = 3
POLICIES = ("in-place", "index", "linecutting", "fifo")
LOADS = (0.5, 1.0, 5.0, 20.0)
BUDGET = 5.0
"""Microseconds: 200,000 updates per second."""
WITH_BUDGET = {("simpy", "in-place", 5.0), ("simpy", "index", 5.0)}


def simulate(run: PolicyRun) -> tuple[float, Measures]:
    """Return the seconds that a run took, without its setting up, and what it measured."""
    simulation, subscriber = run.set_up()
    seconds = timed(lambda: simulation.run(run.updates))
    return seconds, simulation.measures(subscriber)


def assert_work_done(run: PolicyRun, measured: Measures) -> None:
    """Check that all updates arrived and that the server did as many as it could."""
    counted = measured.counted
    assert counted.is_balanced
    assert counted.arrived == run.updates
    assert counted.dequeued == counted.delivered + counted.in_process
    could = measured.elapsed / run.cost
    if run.cost > 1.0:
        assert counted.delivered == pytest.approx(could, abs=max(3.0, 0.001 * could))
    else:
        assert counted.dequeued + counted.superseded >= counted.arrived - run.cost * 100
        assert counted.delivered <= could


def assert_all_logged(run: PolicyRun) -> None:
    """Check, in a short run, that there is an event for each thing that was counted."""
    simulation, subscriber = replace(run, updates=SHORT, is_logged=True).set_up()
    simulation.run(SHORT)
    counted = simulation.measures(subscriber).counted
    assert subscriber.log is not None
    assert counted.arrived == SHORT
    assert len(subscriber.log) == counted.arrived + counted.dequeued + counted.delivered


def test_updates_simulated_per_second() -> None:
    runs = [
        PolicyRun(
            policy=policy,
            workload=Poisson(zipf(100, 0.9)),
            cost=load,
            updates=UPDATES,
            loop=loop,
        )
        for policy in POLICIES
        for load in LOADS
        for loop in ("simpy", "plain")
    ]
    for run in runs:
        assert_all_logged(run)
    # Round by round, so that another process does not disturb all rounds of one run.
    rounds = [[simulate(run) for run in runs] for _ in range(ROUNDS)]
    table = Table("microseconds of one core per simulated update, 100 Zipf keys")
    for run, *outcomes in zip(runs, *rounds, strict=True):
        seconds = min(taken for taken, _ in outcomes)
        for _, measured in outcomes:
            assert_work_done(run, measured)
        is_budgeted = (run.loop, run.policy, run.cost) in WITH_BUDGET
        table.row(
            f"{run.policy}, load {run.cost:g}, {run.loop}: {UPDATES / seconds:,.0f} updates/s",
            seconds / UPDATES * 1e6,
            BUDGET if is_budgeted else None,
            "µs",
        )
    for outcomes_of_round in rounds:
        measures = [measured for _, measured in outcomes_of_round]
        assert measures[::2] == measures[1::2], "the loops differ"
        assert measures == [measured for _, measured in rounds[0]], "the rounds differ"
    table.assert_met()
