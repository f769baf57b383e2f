"""The staleness that queues integrate is the one that follows from the events, by its definition.

The queues keep sums, in constant time per event; `staleness_lines` knows nothing of how, and draws
the staleness of each key from the log of what arrived, was dequeued and was delivered. Both are
compared for every key, up to the rounding of floats.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from simulator.model.measures import Measures
from simulator.model.policy_run import PolicyRun
from simulator.model.staleness_lines import mean_staleness, staleness_lines
from upstream import SCHEDULERS

from .logged_run import WORKLOADS, Load, LoggedRun, logged_run, run_at, short_runs
from .pairwise import pairwise

POLICIES = ["append", "adaptive", *SCHEDULERS]
"""Those that shed nothing: of what was shed, the log does not tell."""

LOADS: dict[str, Load] = {
    "load 0.5": (0.5, 1, "fixed"),
    "load 1.1": (1.1, 1, "fixed"),
    "load 3, exponential": (3.0, 1, "exponential"),
    "load 20": (20.0, 1, "fixed"),
    "3 servers, load 2/3": (2.0, 3, "fixed"),
    "3 servers, load 4, exponential": (12.0, 3, "exponential"),
}


def assert_recomputed(run: LoggedRun) -> None:
    for of in ("queue", "application"):
        lines = staleness_lines(run.events, of=of, end=run.end)
        recomputed = {key: mean_staleness(line) for key, line in lines.items()}
        integrated = by_key(run.measures, of)
        assert recomputed.keys() == integrated.keys()
        for key, staleness in integrated.items():
            assert staleness == pytest.approx(recomputed[key], rel=1e-9, abs=1e-9), (of, key)


def by_key(measures: Measures, of: str) -> dict[object, float]:
    staleness = measures.queue if of == "queue" else measures.application
    return dict(staleness.by_key)


@pytest.mark.parametrize(("policy", "workload", "load"), pairwise(POLICIES, WORKLOADS, LOADS))
def test_the_integrated_staleness_is_the_one_recomputed_from_the_log(
    policy: str, workload: str, load: str
) -> None:
    capacity = 40 if policy == "adaptive" else None
    run = logged_run(run_at(LOADS[load], policy, workload, updates=1_500, capacity=capacity))
    assert_recomputed(run)
    assert run.measures.application.mean > run.measures.queue.mean
    assert run.measures.application.mean > 0


@given(short_runs(POLICIES, lambda policy: 2 if policy == "adaptive" else None))
def test_the_recomputed_staleness_agrees_for_any_arrivals(run: PolicyRun) -> None:
    assert_recomputed(logged_run(run))


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_no_digits_are_lost_in_a_long_run(policy: str) -> None:
    run = PolicyRun(
        policy=policy,
        workload=WORKLOADS["Poisson"],
        cost=5.0 if policy != "append" else 1.02,
        updates=60_000,
        is_logged=True,
    )
    assert_recomputed(logged_run(run))
