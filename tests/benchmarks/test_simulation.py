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
from simulator.workloads.key_rates import zipf
from simulator.workloads.sources import Poisson
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
    table = Table("microseconds of one core per simulated update, 100 Zipf keys")
    for policy in POLICIES:
        for load in LOADS:
            seen = {}
            for loop in ("simpy", "plain"):
                run = PolicyRun(
                    policy=policy,
                    workload=Poisson(zipf(100, 0.9)),
                    cost=load,
                    updates=UPDATES,
                    loop=loop,
                )
                assert_all_logged(run)
                rounds = [simulate(run) for _ in range(ROUNDS)]
                seconds = min(taken for taken, _ in rounds)
                seen[loop] = rounds[0][1]
                assert all(measured == seen[loop] for _, measured in rounds)
                assert_work_done(run, seen[loop])
                is_budgeted = (loop, policy, load) in WITH_BUDGET
                table.row(
                    f"{policy}, load {load:g}, {loop}: {UPDATES / seconds:,.0f} updates/s",
                    seconds / UPDATES * 1e6,
                    BUDGET if is_budgeted else None,
                    "µs",
                )
            assert seen["simpy"] == seen["plain"], "the loops differ"
    table.assert_met()
