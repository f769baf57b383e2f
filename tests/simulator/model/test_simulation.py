"""A simulation: one workload, and the subscribers whose queues it feeds."""

from __future__ import annotations

import math

import pytest

from simulator.errors import OptionError
from simulator.model.simulation import LENGTH_SAMPLES, LOOPS, MAX_SEED, Simulation
from simulator.model.subscriber import Subscriber
from simulator.workloads.recorded import Recorded
from simulator.workloads.sources import FixedInterval, Poisson
from simulator.workloads.workload import KnownFromStart, Workload, uniform, zipf
from tests.simulator.logged_run import WORKLOADS
from upstream import (
    POLICIES,
    SCHEDULERS,
    BytesCodec,
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    OnDemandMemory,
    PagePool,
    StreamQueue,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
    make_queue,
    staleness_lower_bound,
)
from upstream.events import Event, EventKind

WORKLOAD = Poisson(zipf(30, 0.9))
COST = 3.0


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def set_up(
    workload: Workload = WORKLOAD,
    *,
    loop: str = "plain",
    policy: str = "in-place",
    cost: float = 2.0,
) -> tuple[Simulation, Subscriber]:
    simulation = Simulation(workload, loop=loop)
    queue = make_queue(policy, clock=simulation.clock)
    return simulation, simulation.add(policy, queue, cost=cost, is_logged=True)


def events(subscriber: Subscriber) -> list[Event]:
    assert subscriber.log is not None
    return subscriber.log


class TestRuns:
    def test_updates_arrive_when_the_workload_says_and_are_numbered(self, loop: str) -> None:
        times = [0.0, 0.5, 0.5, 4.0]
        simulation, subscriber = set_up(Recorded("AB", times=times, codes=[0, 1, 0, 1]), loop=loop)
        simulation.run(4)
        arrivals = [event for event in events(subscriber) if event.kind is EventKind.ARRIVAL]
        assert arrivals == [
            *[(0.0, EventKind.ARRIVAL, "A", 0), (0.5, EventKind.ARRIVAL, "B", 1)],
            *[(0.5, EventKind.ARRIVAL, "A", 2), (4.0, EventKind.ARRIVAL, "B", 3)],
        ]
        assert (simulation.arrived, simulation.now) == (4, 4.0)

    @pytest.mark.parametrize("updates", [3, 4, 1_000])
    def test_all_updates_of_a_finite_workload_arrive(self, updates: int, loop: str) -> None:
        workload = Recorded("A", times=[0.0, 1.0, 2.0], codes=[0, 0, 0])
        simulation, subscriber = set_up(workload, loop=loop)
        simulation.run(updates)
        assert simulation.arrived == simulation.measures(subscriber).counted.arrived == 3
        simulation.run(5)
        assert simulation.arrived == simulation.measures(subscriber).counted.arrived == 3
        assert simulation.now == 2.0

    @pytest.mark.parametrize("parts", [[1, 999], [500, 500], [200] * 5, [1] * 40 + [960]])
    @pytest.mark.parametrize("workload", WORKLOADS)
    def test_a_run_in_parts_is_the_run_as_a_whole(
        self, workload: str, parts: list[int], loop: str
    ) -> None:
        whole, one = set_up(WORKLOADS[workload], loop=loop, cost=1.5)
        whole.run(1_000)
        split, other = set_up(WORKLOADS[workload], loop=loop, cost=1.5)
        for part in parts:
            split.run(part)
        assert events(other) == events(one)
        assert split.arrived == whole.arrived == 1_000
        assert split.measures(other).queue == whole.measures(one).queue
        assert split.measures(other).application == whole.measures(one).application

    def test_a_run_ends_with_the_last_arrival_before_servers_look(self, loop: str) -> None:
        simulation, subscriber = set_up(FixedInterval(uniform(1)), loop=loop, cost=0.5)
        simulation.run(3)
        last = events(subscriber)[-1]
        assert (last.time, last.kind, last.number) == (2.0, EventKind.ARRIVAL, 2)

    def test_servers_go_on_while_nothing_arrives(self, loop: str) -> None:
        simulation, subscriber = set_up(loop=loop, cost=3.0)
        simulation.run(500)
        waiting = len(subscriber.queue)
        assert waiting > 5
        simulation.run_on(simulation.now + 3.0 * (waiting + 2))
        counted = simulation.measures(subscriber).counted
        assert (counted.arrived, counted.waiting, counted.in_process) == (500, 0, 0)
        assert simulation.arrived == 500

    def test_updates_that_fell_due_in_a_pause_arrive_at_once_when_the_run_continues(
        self, loop: str
    ) -> None:
        simulation, subscriber = set_up(FixedInterval(uniform(1)), loop=loop)
        simulation.run(3)
        simulation.run_on(10.25)
        simulation.run(10)
        arrivals = [event for event in events(subscriber) if event.kind is EventKind.ARRIVAL]
        assert [event.time for event in arrivals] == [0, 1, 2, *[10.25] * 8, 11, 12]
        assert [event.number for event in arrivals] == list(range(13))

    def test_time_cannot_go_back(self, loop: str) -> None:
        simulation, _ = set_up(loop=loop)
        simulation.run(100)
        with pytest.raises(AssertionError, match="passed"):
            simulation.run_on(5.0)
        simulation.run_on(simulation.now)

    def test_idle_servers_are_woken_by_the_first_arrival_after_a_pause(self, loop: str) -> None:
        workload = Recorded("A", times=[0.0, 50.0, 100.0], codes=[0, 0, 0])
        simulation, subscriber = set_up(workload, loop=loop)
        simulation.run(3)
        simulation.run_on(110.0)
        dequeues = [event.time for event in events(subscriber) if event.kind is EventKind.DEQUEUE]
        assert dequeues == [0.0, 50.0, 100.0]


class TestSeveralSubscribers:
    """Several queues that one stream feeds."""

    def test_each_gets_all_updates_and_serves_as_it_does_alone(self, loop: str) -> None:
        together = Simulation(WORKLOAD, loop=loop)
        subscribers = [
            together.add(policy, informed(policy, together), cost=COST, is_logged=True)
            for policy in POLICIES
        ]
        together.run(1_500)
        for policy, subscriber in zip(POLICIES, subscribers, strict=True):
            alone = Simulation(WORKLOAD, loop=loop)
            one = alone.add(policy, informed(policy, alone), cost=COST, is_logged=True)
            alone.run(1_500)
            assert events(subscriber) == events(one), policy
            assert together.measures(subscriber).queue == alone.measures(one).queue
            assert together.measures(subscriber).counted == alone.measures(one).counted

    def test_servers_may_have_different_speeds(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        fast, slow = (
            simulation.add(str(cost), make_queue("in-place", clock=simulation.clock), cost=cost)
            for cost in (0.5, 5.0)
        )
        simulation.run(2_000)
        assert simulation.measures(fast).counted.delivered > 1_000
        assert simulation.measures(slow).counted.delivered == pytest.approx(400, rel=0.05)
        assert simulation.measures(slow).queue.mean > 10 * simulation.measures(fast).queue.mean

    def test_each_subscriber_draws_its_own_costs(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        one, other = (
            simulation.add(
                name,
                make_queue("in-place", clock=simulation.clock),
                cost=2.0,
                cost_distribution="exponential",
            )
            for name in ("one", "other")
        )
        simulation.run(500)
        assert simulation.measures(one).latency != simulation.measures(other).latency

    def test_given_rates_are_still_known_when_a_stream_feeds_the_queues(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        subscribers = [
            simulation.add(name, informed("index", simulation), cost=COST) for name in "ab"
        ]
        simulation.run(5)
        for subscriber in subscribers:
            assert subscriber.queue.lower_bound() == staleness_lower_bound(
                [simulation.rates[key] for key in subscriber.queue.staleness_by_key()], COST
            )

    def test_rates_given_to_some_queues_only_fail_an_assertion(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        simulation.add("informed", informed("index", simulation), cost=COST)
        simulation.add("not", make_queue("index", clock=simulation.clock), cost=2.0)
        with pytest.raises(AssertionError, match="rates"):
            simulation.run(5)


def informed(policy: str, simulation: Simulation) -> StreamQueue:
    return make_queue(
        policy,
        clock=simulation.clock,
        rates=simulation.rates,
        processing_cost=COST,
        capacity=20 if policy not in SCHEDULERS else None,
    )


class TestLengths:
    """Queue lengths are looked at evenly over the run."""

    @pytest.mark.parametrize("updates", [200, 999, 5_000])
    def test_lengths_are_sampled_200_to_400_times(self, updates: int) -> None:
        simulation, subscriber = set_up()
        simulation.run(updates)
        self.assert_even(simulation, subscriber)

    def test_the_number_of_samples_does_not_depend_on_the_announced_length(self) -> None:
        simulation, subscriber = set_up()
        for updates in (1, 10, 100, 1_000, 5_000):
            simulation.run(updates)
        self.assert_even(simulation, subscriber)

    def test_the_number_of_samples_does_not_depend_on_the_unit_of_time(self) -> None:
        times = [1e9 * number for number in range(10)]
        simulation, subscriber = set_up(Recorded("A", times=times, codes=[0] * 10))
        simulation.run(10)
        self.assert_even(simulation, subscriber)

    @staticmethod
    def assert_even(simulation: Simulation, subscriber: Subscriber) -> None:
        lengths = simulation.measures(subscriber).lengths
        moments = [moment for moment, _ in lengths]
        assert 0.9 * LENGTH_SAMPLES <= len(lengths) <= 2 * LENGTH_SAMPLES
        assert moments == sorted(moments)
        for part in range(10):
            low, high = simulation.now * part / 10, simulation.now * (part + 1) / 10
            seen = sum(low <= moment < high for moment in moments)
            assert seen == pytest.approx(len(moments) / 10, abs=2)

    def test_the_mean_length_is_the_mean_over_time_even_in_a_periodic_run(self) -> None:
        """One key every 1, served every 4: nothing waits for a quarter of the time."""
        simulation, subscriber = set_up(FixedInterval(uniform(1)), cost=4.0)
        simulation.run(4_000)
        assert simulation.measures(subscriber).mean_length == pytest.approx(0.75, abs=0.1)

    def test_lengths_of_an_append_queue_grow_with_time(self) -> None:
        simulation, subscriber = set_up(FixedInterval(uniform(1)), policy="append", cost=2.0)
        simulation.run(2_000)
        for moment, length in simulation.measures(subscriber).lengths:
            assert length == pytest.approx(moment / 2, abs=2)

    def test_progress_is_reported_with_each_sample(self) -> None:
        simulation, subscriber = set_up()
        heard: list[float] = []
        simulation.on_sample = heard.append
        simulation.run(1_000)
        assert heard == [moment for moment, _ in simulation.measures(subscriber).lengths]


class TestMeasures:
    def test_staleness_is_what_the_queue_says(self) -> None:
        simulation, subscriber = set_up()
        simulation.run(1_000)
        measured = simulation.measures(subscriber)
        assert measured.queue.mean == pytest.approx(subscriber.queue.queue_staleness())
        assert measured.application.mean == pytest.approx(subscriber.queue.application_staleness())
        assert measured.statistics == subscriber.queue.statistics()
        assert measured.elapsed == simulation.now
        assert measured.name == "in-place"

    def test_the_bounds_are_those_of_the_workload_and_the_cost(self) -> None:
        simulation, subscriber = set_up(cost=3.0)
        simulation.run(10)
        measured = simulation.measures(subscriber)
        rates = WORKLOAD.rates
        assert measured.queue.lower_bound == staleness_lower_bound(rates, 3.0)
        assert measured.application.lower_bound == staleness_lower_bound(
            rates, 3.0, of="application"
        )

    def test_the_bound_of_several_servers_is_that_of_one_faster_server(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        queue = make_queue("index", clock=simulation.clock)
        subscriber = simulation.add("index", queue, cost=9.0, servers=3)
        simulation.run(20_000)
        measured = simulation.measures(subscriber)
        assert measured.queue.lower_bound == staleness_lower_bound(WORKLOAD.rates, 3.0)
        assert measured.queue.mean > 0.97 * measured.queue.lower_bound
        assert measured.application.lower_bound is None

    def test_windows_have_no_bound(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        windows = WindowSpecification(size=10, slide=10)
        queue = WindowQueue(windows, LazyWindowBuffer, InPlaceScheduler(), clock=simulation.clock)
        subscriber = simulation.add_windows("lazy", queue, cost=0.5)
        simulation.run(1_000)
        measured = simulation.measures(subscriber)
        assert measured.queue.lower_bound is measured.application.lower_bound is None
        assert measured.latency.largest == 0.0
        assert measured.memory is None
        assert measured.statistics.is_balanced

    def test_the_memory_of_a_queue_is_measured(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        memory = OnDemandMemory(PagePool(64 * 64, location_bytes=64))
        queue = UpdateQueue(
            InPlaceScheduler(), clock=simulation.clock, memory=memory, codec=Numbers()
        )
        subscriber = simulation.add("in-place", queue, cost=3.0)
        simulation.run(1_000)
        usage = simulation.measures(subscriber).memory
        assert usage is not None
        assert usage == queue.stream.memory_usage()

    def test_a_queue_with_another_clock_fails_an_assertion(self) -> None:
        simulation = Simulation(WORKLOAD, loop="plain")
        queue = make_queue("in-place", clock=ManualClock())
        subscriber = simulation.add("in-place", queue, cost=3.0)
        simulation.run(10)
        with pytest.raises(AssertionError, match="clock"):
            simulation.measures(subscriber)


class Numbers(BytesCodec):
    """The numbers of updates as bytes."""

    def encode(self, value: object) -> bytes:
        assert isinstance(value, int)
        return super().encode(value.to_bytes(8))

    def decode(self, data: bytes | memoryview) -> object:
        return int.from_bytes(data)


class TestMarks:
    def test_a_mark_can_be_set_more_than_once(self) -> None:
        simulation, subscriber = set_up(KnownFromStart(WORKLOAD))
        simulation.run(500)
        first = simulation.mark(subscriber)
        simulation.run(500)
        second = simulation.mark(subscriber)
        simulation.run(500)
        whole = simulation.measures(subscriber, since=first).queue.mean
        half = simulation.measures(subscriber, since=second).queue.mean
        from_start = simulation.measures(subscriber).queue.mean
        assert half != whole != from_start
        later = (simulation.now - second.now) / (simulation.now - first.now)
        earlier = sum(second.queue.values()) * second.now - sum(first.queue.values()) * first.now
        earlier /= 30 * (simulation.now - first.now)
        assert whole == pytest.approx(half * later + earlier)

    def test_keys_that_start_at_different_times_cannot_be_measured_since_a_mark(self) -> None:
        simulation, subscriber = set_up()
        simulation.run(100)
        with pytest.raises(AssertionError, match="different times"):
            simulation.mark(subscriber)

    def test_keys_that_were_rejected_at_the_start_cannot_be_measured_since_a_mark(self) -> None:
        simulation = Simulation(KnownFromStart(WORKLOAD), loop="plain")
        queue = make_queue("in-place", clock=simulation.clock, capacity=29)
        subscriber = simulation.add("in-place", queue, cost=2.0)
        simulation.run(30)
        with pytest.raises(AssertionError, match="refused"):
            simulation.mark(subscriber)


class TestInvalidParameters:
    def test_an_unknown_loop(self) -> None:
        with pytest.raises(OptionError, match="loop fast: expected simpy or plain"):
            Simulation(WORKLOAD, loop="fast")

    @pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
    def test_a_seed_out_of_range(self, seed: int) -> None:
        with pytest.raises(OptionError, match=f"seed {seed}: expected a number from 0 to"):
            Simulation(WORKLOAD, seed=seed)

    @pytest.mark.parametrize("seed", [0, MAX_SEED])
    def test_seeds_at_the_ends_of_the_range_are_valid(self, seed: int) -> None:
        simulation = Simulation(WORKLOAD, seed=seed, loop="plain")
        simulation.add("fifo", make_queue("fifo", clock=simulation.clock), cost=1.0)
        simulation.run(10)
        assert simulation.arrived == 10

    @pytest.mark.parametrize("cost", [0.0, -1.0, math.nan, math.inf])
    def test_a_cost_that_is_not_positive(self, cost: float) -> None:
        simulation = Simulation(WORKLOAD)
        with pytest.raises(OptionError, match=r"cost .*: expected a finite number above 0"):
            simulation.add("fifo", make_queue("fifo", clock=simulation.clock), cost=cost)

    def test_an_unknown_distribution(self) -> None:
        simulation = Simulation(WORKLOAD)
        queue = make_queue("fifo", clock=simulation.clock)
        with pytest.raises(
            OptionError, match="cost distribution normal: expected fixed or exponential or uniform"
        ):
            simulation.add("fifo", queue, cost=1.0, cost_distribution="normal")

    @pytest.mark.parametrize("updates", [0, -1])
    def test_no_updates(self, updates: int) -> None:
        simulation, _ = set_up()
        with pytest.raises(OptionError, match=f"updates {updates}: expected a number above 0"):
            simulation.run(updates)

    def test_no_subscribers_to_feed(self) -> None:
        with pytest.raises(AssertionError, match="no subscribers"):
            Simulation(WORKLOAD).run(1)

    def test_a_subscriber_that_is_added_too_late(self) -> None:
        simulation, _ = set_up()
        simulation.run(1)
        with pytest.raises(AssertionError, match="begun"):
            simulation.add("fifo", make_queue("fifo", clock=simulation.clock), cost=1.0)
