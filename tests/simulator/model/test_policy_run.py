"""A run of one policy, and its warm-up."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from simulator.errors import OptionError
from simulator.model.policy_run import PolicyRun
from simulator.model.staleness_lines import Segment, staleness_lines
from simulator.workloads.sources import FixedInterval, Poisson
from simulator.workloads.workload import uniform, zipf
from tests.simulator.logged_run import WORKLOADS, logged_run
from upstream import POLICIES, SCHEDULERS, UnknownPolicyError
from upstream.events import EventKind

RUN = PolicyRun(policy="in-place", workload=Poisson(zipf(20, 0.9)), cost=2.0, updates=2_000)


@pytest.mark.parametrize("capacity", [None, 10])
@pytest.mark.parametrize("load", [0.5, 1.2, 8.0])
@pytest.mark.parametrize("policy", POLICIES)
def test_as_many_updates_arrive_as_are_asked_for_and_all_are_accounted_for(
    policy: str, load: float, capacity: int | None
) -> None:
    run = replace(RUN, policy=policy, cost=load, capacity=capacity)
    measured = run.measure()
    counted = measured.counted
    assert counted.arrived == 2_000
    assert counted.is_balanced
    assert counted.dequeued == counted.delivered + counted.in_process
    assert counted.in_process <= 1
    assert counted.keys == len(measured.queue.by_key) <= 20
    assert (measured.name, measured.memory) == (policy, None)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_seed_gives_the_same_measures_and_another_one_others(policy: str) -> None:
    run = replace(RUN, policy=policy, cost_distribution="exponential", seed=5, capacity=15)
    assert run.measure() == run.measure()
    assert run.measure().queue != replace(run, seed=6).measure().queue


def test_all_policies_get_the_same_arrivals_whatever_the_costs_and_servers() -> None:
    arrivals = []
    for policy in POLICIES:
        for cost, distribution, servers in ((0.5, "fixed", 1), (9.0, "exponential", 3)):
            run = replace(
                RUN,
                policy=policy,
                cost=cost,
                cost_distribution=distribution,
                servers=servers,
                is_informed=servers == 1,
                is_logged=True,
            )
            events = logged_run(run).events
            arrivals.append([event for event in events if event.kind is EventKind.ARRIVAL])
    assert len(arrivals[0]) == 2_000
    assert all(other == arrivals[0] for other in arrivals)


def test_the_queue_is_told_the_rates_and_the_cost_if_that_is_asked_for() -> None:
    _, estimating = RUN.set_up()
    assert not estimating.queue.stream.rates_are_given
    assert estimating.queue.processing_cost is None
    simulation, informed = replace(RUN, is_informed=True).set_up()
    assert informed.queue.stream.rates_are_given
    assert informed.queue.processing_cost == 2.0
    assert simulation.rates == dict(enumerate(zipf(20, 0.9).tolist()))


def test_capacity_bounds_what_waits() -> None:
    measured = replace(RUN, cost=10.0, capacity=3).measure()
    assert measured.counted.waiting == 3
    assert measured.counted.rejected > 0


@pytest.mark.parametrize("cost", [0.3, 8.0])
def test_progress_is_a_share_that_grows_to_1(cost: float) -> None:
    shares: list[float] = []
    replace(RUN, cost=cost).measure(shares.append)
    assert shares == sorted(shares)
    assert len(shares) > 100
    assert 0.0 < shares[0] < 0.01
    assert 0.95 < shares[-1] <= 1.0


# The warm-up.


def clipped(line: list[Segment], start: float) -> float:
    """Return the mean of a line from some time on."""
    parts = [
        Segment(max(segment.start, start), segment.end, segment.since)
        for segment in line
        if segment.end > start
    ]
    return sum(part.area for part in parts) / (line[-1].end - start)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("policy", ["append", *SCHEDULERS])
def test_staleness_before_the_end_of_the_warm_up_is_left_out(policy: str, workload: str) -> None:
    run = replace(
        RUN, policy=policy, workload=WORKLOADS[workload], cost=3.0, warm_up=0.3, is_logged=True
    )
    simulation, subscriber = run.set_up()
    keys = len(run.workload.keys)
    simulation.run(keys + 600)
    mark = simulation.mark(subscriber)
    warm = simulation.now
    simulation.run(1_400)
    measured = simulation.measures(subscriber, since=mark)
    assert measured == run.measure()
    assert subscriber.log is not None
    for of, staleness in (("queue", measured.queue), ("application", measured.application)):
        lines = staleness_lines(subscriber.log, of=of, end=simulation.now)
        assert len(staleness.by_key) == keys
        for key, mean in staleness.by_key.items():
            assert mean == pytest.approx(clipped(lines[key], warm), rel=1e-9, abs=1e-9)
    assert all(warm <= moment <= simulation.now for moment, _ in measured.lengths)
    assert len(measured.lengths) > 100


def test_with_a_warm_up_each_key_arrives_once_on_top_of_the_updates() -> None:
    run = replace(RUN, warm_up=0.25, is_logged=True)
    assert run.measure().counted.arrived == 2_020
    simulation, subscriber = run.set_up()
    simulation.run(20)
    assert subscriber.log is not None
    assert [(event.time, event.key) for event in subscriber.log] == [
        (0.0, key) for key in range(20)
    ]


def test_latency_is_that_of_updates_delivered_after_the_warm_up() -> None:
    """An append queue at load 2 makes updates wait ever longer."""
    whole = replace(RUN, policy="append").measure()
    later = replace(RUN, policy="append", warm_up=0.5).measure()
    assert later.latency.mean > 1.4 * whole.latency.mean
    assert later.latency.p50 > 1.4 * whole.latency.p50


def test_the_shortest_run_with_a_warm_up_measures_nothing() -> None:
    run = replace(RUN, workload=FixedInterval(uniform(2)), updates=1, warm_up=0.5)
    assert run.measure().queue.by_key == {0: 0.0, 1: 0.0}


@pytest.mark.parametrize("policy", ["append-shedding", "adaptive"])
def test_policies_that_refuse_nothing_know_all_keys_after_the_warm_up(policy: str) -> None:
    measured = replace(RUN, policy=policy, capacity=3, warm_up=0.1, cost=8.0).measure()
    assert set(measured.queue.by_key) == set(range(20))
    assert all(staleness >= 0 for staleness in measured.queue.by_key.values())


# Invalid parameters.


@pytest.mark.parametrize("warm_up", [1.0, 1.5, -0.1, math.nan, math.inf])
def test_the_warm_up_must_be_a_share_below_1(warm_up: float) -> None:
    with pytest.raises(OptionError, match=r"warm-up .*: expected a share of the updates, below 1"):
        replace(RUN, warm_up=warm_up).measure()


@pytest.mark.parametrize("policy", ["append", *SCHEDULERS])
def test_a_warm_up_needs_room_for_all_keys(policy: str) -> None:
    with pytest.raises(
        OptionError, match=r"capacity 19: expected at least 20, because with a warm-up"
    ):
        replace(RUN, policy=policy, warm_up=0.1, capacity=19).measure()
    assert replace(RUN, policy=policy, warm_up=0.1, capacity=20).measure().counted.arrived == 2_020


@pytest.mark.parametrize("warm_up", [0.0, 0.5])
@pytest.mark.parametrize("updates", [0, -1])
def test_there_must_be_updates(updates: int, warm_up: float) -> None:
    with pytest.raises(OptionError, match=f"updates {updates}: expected a number above 0"):
        replace(RUN, updates=updates, warm_up=warm_up).measure()


def test_an_unknown_policy_is_named_as_such() -> None:
    with pytest.raises(UnknownPolicyError, match="fastest"):
        replace(RUN, policy="fastest").measure()
