"""A queue and its servers: who is idle, who is served when, and what is noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import pytest

from simulator.errors import OptionError
from simulator.model.policy_run import PolicyRun
from simulator.model.simulation import Simulation
from simulator.model.subscriber import MAX_SERVERS
from simulator.workloads.exact_times import rounded_up
from simulator.workloads.recorded import Recorded
from tests.simulator.logged_run import WORKLOADS, LoggedRun, logged_run
from tests.simulator.pairwise import pairwise
from upstream import POLICIES, make_queue
from upstream.events import Event, EventKind

ARRIVAL, DEQUEUE, DELIVERY = EventKind.ARRIVAL, EventKind.DEQUEUE, EventKind.DELIVERY
SERVERS = {"1 server": 1, "3 servers": 3}
COSTS = {"cost 0.4": 0.4, "cost 1": 1.0, "cost 1.2": 1.2, "cost 6": 6.0}


def run(policy: str, workload: str, *, cost: float, servers: int) -> LoggedRun:
    return logged_run(
        PolicyRun(
            policy=policy,
            workload=WORKLOADS[workload],
            cost=cost,
            servers=servers,
            updates=1_000,
            is_logged=True,
        )
    )


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

    def test_what_arrives_as_a_server_finishes_comes_before_what_it_does_next(self) -> None:
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
def test_the_number_of_servers_must_make_sense(servers: int) -> None:
    simulation = Simulation(WORKLOADS["Poisson"])
    queue = make_queue("in-place", clock=simulation.clock)
    with pytest.raises(OptionError, match=f"servers {servers}: expected a number from 1 to 10,000"):
        simulation.add("in-place", queue, cost=1.0, servers=servers)


def test_values_that_are_no_numbers_are_our_mistake() -> None:
    simulation = Simulation(WORKLOADS["Poisson"], loop="plain")
    queue = make_queue("in-place", clock=simulation.clock)
    simulation.add("in-place", queue, cost=1.0, is_logged=True)
    queue.enqueue(0, "no number")
    with pytest.raises(AssertionError, match="its number"):
        simulation.run(10)
