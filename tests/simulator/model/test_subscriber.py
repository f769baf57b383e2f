"""A queue and its servers: which of them idle, which key is served when, and what is noted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, islice

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.model.simulation import LOOPS, Simulation
from simulator.model.subscriber import (
    COST_DISTRIBUTIONS,
    MAX_SERVERS,
    WindowSubscriber,
    WindowTrace,
    check_cost,
)
from simulator.workloads.recorded import Recorded
from simulator.workloads.workload import rounded_up
from tests.simulator.logged_run import WORKLOADS, LoggedRun, logged_run, run_at
from tests.simulator.pairwise import pairwise
from upstream import (
    POLICIES,
    AppendWindowQueue,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    WindowBuffer,
    WindowMark,
    WindowQueue,
    WindowSpecification,
    make_queue,
)
from upstream.events import Event, EventKind

ARRIVAL, DEQUEUE, DELIVERY = EventKind.ARRIVAL, EventKind.DEQUEUE, EventKind.DELIVERY
SERVERS = {"1 server": 1, "3 servers": 3}
COSTS = {"cost 0.4": 0.4, "cost 1": 1.0, "cost 1.2": 1.2, "cost 6": 6.0}


def run(policy: str, workload: str, *, cost: float, servers: int) -> LoggedRun:
    return logged_run(run_at((cost, servers, "fixed"), policy, workload, updates=1_000))


def after_each_moment(run: LoggedRun) -> Iterator[tuple[int, int]]:
    """Yield how many keys wait and how many updates are in process when a moment is over.

    What happens in the last moment of a run, after its last arrival, belongs to the next run.
    """
    newest: dict[object, int] = {}
    in_process = 0
    for time, events in groupby(run.events, key=lambda event: event.time):
        for event in events:
            if event.kind is ARRIVAL:
                newest[event.key] = event.number
            elif event.kind is DEQUEUE:
                in_process += 1
                if newest.get(event.key) == event.number:
                    del newest[event.key]
            else:
                in_process -= 1
        if time < run.end:
            yield len(newest), in_process


class TestServers:
    @pytest.mark.parametrize(
        ("policy", "workload", "cost", "servers"), pairwise(POLICIES, WORKLOADS, COSTS, SERVERS)
    )
    def test_no_server_idles_while_something_waits(
        self, policy: str, workload: str, cost: str, servers: str
    ) -> None:
        count = SERVERS[servers]
        logged = run(policy, workload, cost=COSTS[cost], servers=count)
        moments = list(after_each_moment(logged))
        for waiting, in_process in moments:
            assert 0 <= in_process <= count
            assert in_process == count or waiting == 0
        assert any(in_process for _, in_process in moments)

    @pytest.mark.parametrize("servers", [1, 3])
    @pytest.mark.parametrize("policy", ["in-place", "append"])
    def test_each_update_takes_its_cost_from_dequeue_to_delivery(
        self, policy: str, servers: int
    ) -> None:
        cost = 1.2
        events = run(policy, "several per tick", cost=cost, servers=servers).events
        taken = {event.number: event.time for event in events if event.kind is DEQUEUE}
        delivered = [event for event in events if event.kind is DELIVERY]
        assert len(delivered) > 500 * servers / 3
        for event in delivered:
            assert event.time == taken[event.number] + rounded_up(cost)

    def test_latency_is_the_time_from_arrival_to_delivery(self) -> None:
        logged = run("append", "Poisson", cost=0.9, servers=1)
        arrived = {event.number: event.time for event in logged.events if event.kind is ARRIVAL}
        waits = [
            event.time - arrived[event.number] for event in logged.events if event.kind is DELIVERY
        ]
        latency = logged.measures.latency
        assert latency.mean == pytest.approx(sum(waits) / len(waits))
        assert latency.largest == pytest.approx(max(waits))
        assert min(waits) >= 0.9

    def test_updates_that_arrive_together_are_all_in_before_a_server_looks(self) -> None:
        events = served([(0, "A"), (0, "B"), (0, "A")], cost=1.0)
        assert [(event.key, event.number) for event in events if event.kind is DEQUEUE] == [
            ("A", 2),
            ("B", 1),
        ]

    def test_an_update_that_arrives_as_a_server_finishes_is_in_before_the_next_dequeue(
        self,
    ) -> None:
        # time        0     1     2
        # arrivals    A0    B1    A2
        # processing  |----A0-----|  B is served from 2 on, and A has arrived by then
        events = served([(0, "A"), (1, "B"), (2, "A"), (9, "A")], cost=2.0)
        at_two = [(event.kind, event.key, event.number) for event in events if event.time == 2.0]
        assert at_two == [(ARRIVAL, "A", 2), (DELIVERY, "A", 0), (DEQUEUE, "B", 1)]

    def test_several_servers_may_have_a_key_in_process_at_once(self) -> None:
        events = served([(0, "A"), (1, "A"), (2, "A"), (9, "A")], cost=5.0, servers=2)
        assert [(event.time, event.number) for event in events if event.kind is DEQUEUE] == [
            (0.0, 0),
            (1.0, 1),
            (5.0, 2),
        ]

    def test_all_servers_are_busy_if_as_many_updates_arrive_at_once(self) -> None:
        events = served([(0, "A"), (0, "B"), (0, "C"), (0, "D"), (9, "A")], cost=5.0, servers=3)
        dequeues = Counter(event.time for event in events if event.kind is DEQUEUE)
        assert dequeues == {0.0: 3, 5.0: 1}


def served(
    arrivals: list[tuple[float, str]], *, cost: float, servers: int = 1, policy: str = "in-place"
) -> list[Event]:
    """Return what happens from the first arrival to the last, before the server sees that."""
    keys = sorted({key for _, key in arrivals})
    workload = Recorded(
        keys,
        times=[float(time) for time, _ in arrivals],
        codes=[keys.index(key) for _, key in arrivals],
    )
    simulation = Simulation(workload)
    queue = make_queue(policy, clock=simulation.clock)
    subscriber = simulation.add(policy, queue, cost=cost, servers=servers, is_logged=True)
    simulation.run(len(arrivals))
    if simulation.now == 0:
        simulation.run_on(9.0)
    assert subscriber.log is not None
    return subscriber.log


@pytest.mark.parametrize("servers", [0, -1, MAX_SERVERS + 1])
def test_an_invalid_number_of_servers_is_refused(servers: int) -> None:
    simulation = Simulation(WORKLOADS["Poisson"])
    queue = make_queue("in-place", clock=simulation.clock)
    with pytest.raises(OptionError, match=f"servers {servers}: expected a number from 1 to 10,000"):
        simulation.add("in-place", queue, cost=1.0, servers=servers)


def test_values_that_are_not_numbers_fail_an_assertion() -> None:
    simulation = Simulation(WORKLOADS["Poisson"], loop="plain")
    queue = make_queue("in-place", clock=simulation.clock)
    simulation.add("in-place", queue, cost=1.0, is_logged=True)
    queue.enqueue(0, "no number")
    with pytest.raises(AssertionError, match="its number"):
        simulation.run(10)


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
    # leaves          0----1----*2----3----*      * is a CLOSE without a tuple
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


def run_append(*, cost: float) -> tuple[WindowSubscriber, WindowTrace]:
    """Run tuples at 0 to 5 through append windowing, and wait until all are processed."""
    simulation = simulation_of([float(time) for time in range(6)])
    queue = AppendWindowQueue(OVERLAPPING, clock=simulation.clock)
    subscriber = simulation.add_windows("append", queue, cost=cost, is_logged=True)
    simulation.run(6)
    simulation.run_on(100.0)
    assert subscriber.trace is not None
    return subscriber, subscriber.trace


def test_a_tuple_costs_as_often_as_there_are_windows_that_it_updates() -> None:
    subscriber, trace = run_append(cost=0.25)
    tuples = [update.time for _, (update, _) in trace.left if update is not None]
    assert tuples == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    results = [time for time, _ in trace.results]
    assert results == [2.75, 3.75, 4.75, 5.75], "three windows are open from the third tuple on"
    assert subscriber.aggregate.steps == 1 + 2 + 3 + 3 + 3 + 3


def test_costs_add_up_while_the_server_is_busy() -> None:
    _, trace = run_append(cost=1.0)
    times = [time for time, (update, _) in trace.left if update is not None]
    assert np.diff(times).tolist() == [1.0, 2.0, 3.0, 3.0, 3.0]


def test_nothing_is_logged_by_default() -> None:
    simulation = simulation_of([0.0, 1.0])
    subscriber = simulation.add_windows(
        "lazy", update_queue(simulation, LazyWindowBuffer), cost=1.0
    )
    simulation.run(2)
    assert subscriber.trace is None


# What an update costs.

DRAWN = 50_000


def draw(distribution: str, mean: float, *, seed: int = 3, count: int = DRAWN) -> np.ndarray:
    costs = COST_DISTRIBUTIONS[distribution](mean, np.random.default_rng(seed))
    return np.array(list(islice(costs, count)))


@pytest.mark.parametrize("mean", [0.01, 1.0, 7.3])
@pytest.mark.parametrize("distribution", COST_DISTRIBUTIONS)
def test_costs_have_the_mean_that_was_asked_for(distribution: str, mean: float) -> None:
    costs = draw(distribution, mean)
    assert costs.mean() == pytest.approx(mean, rel=5 / math.sqrt(DRAWN))
    assert (costs >= 0).all()


def test_fixed_costs_are_all_the_same_and_add_up_exactly() -> None:
    assert set(draw("fixed", 1.2).tolist()) == {rounded_up(1.2)}
    assert set(draw("fixed", 2.5).tolist()) == {2.5}


def test_exponential_costs_are_memoryless() -> None:
    costs = draw("exponential", 2.0)
    assert costs.std() == pytest.approx(2.0, rel=0.03)
    assert (costs > 4.0).mean() == pytest.approx(math.exp(-2.0), abs=0.01)


def test_uniform_costs_are_between_0_and_twice_the_mean() -> None:
    costs = draw("uniform", 2.0)
    assert 3.99 < costs.max() <= 4.0
    assert 0.0 <= costs.min() < 0.01
    assert costs.std() == pytest.approx(2.0 / math.sqrt(3.0), rel=0.02)


@pytest.mark.parametrize("distribution", ["exponential", "uniform"])
def test_costs_are_the_same_for_the_same_seed_and_others_for_another(distribution: str) -> None:
    once = draw(distribution, 2.0, count=3_000)
    assert (once == draw(distribution, 2.0, count=3_000)).all()
    assert not (once == draw(distribution, 2.0, seed=4, count=3_000)).any()
    assert once / 2.0 == pytest.approx(draw(distribution, 1.0, count=3_000))
    assert abs(np.corrcoef(once[:-1], once[1:])[0, 1]) < 0.1


@pytest.mark.parametrize("cost", [0.0, -1.0, math.nan, math.inf])
def test_a_cost_must_be_finite_and_above_0(cost: float) -> None:
    with pytest.raises(OptionError, match=r"load .*: expected a finite number above 0"):
        check_cost(cost, "load")
