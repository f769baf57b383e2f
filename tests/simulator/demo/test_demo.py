"""The demo's engine, driven by hand: what it measures, and that it measures by the clock."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from simulator.demo.demo import (
    MOST_OF_THE_TIME_SHOWING,
    NEVER,
    SHOWN_POLICIES,
    Arrival,
    Consumer,
    Demo,
    DemoReport,
    DemoSettings,
    run_in_real_time,
    zipf_feed,
)
from simulator.workloads.workload import zipf
from upstream import POLICIES, InPlaceScheduler, ManualClock, UpdateQueue, staleness_lower_bound

SETTINGS = DemoSettings(keys=100, theta=1.2)


def run_until(demo: Demo, clock: ManualClock, end: float) -> DemoReport:
    while demo.next_due() <= end:
        clock.set(demo.next_due())
        demo.catch_up()
    clock.set(end)
    return demo.report()


def run(settings: DemoSettings, seconds: float) -> DemoReport:
    clock = ManualClock()
    return run_until(Demo(settings, clock), clock, seconds)


@pytest.fixture(scope="module")
def report() -> DemoReport:
    return run(SETTINGS, 6.0)


def first(count: int, settings: DemoSettings) -> list[Arrival]:
    return list(islice(zipf_feed(settings), count))


def test_a_feed_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert first(10_000, SETTINGS) == first(10_000, SETTINGS)
    assert first(10, SETTINGS) != first(10, replace(SETTINGS, seed=2))


def test_the_feed_is_in_order_as_fast_as_asked_for_and_numbered() -> None:
    arrivals = first(20_000, replace(SETTINGS, updates_per_second=100.0))
    dues = [arrival.due_seconds for arrival in arrivals]
    assert dues == sorted(dues)
    assert dues[-1] == pytest.approx(200.0, rel=0.03)
    assert [arrival.value for arrival in arrivals] == list(range(20_000))


def test_keys_of_the_feed_arrive_by_zipf_s_law_and_their_names_sort_by_rank() -> None:
    arrivals = first(50_000, DemoSettings(keys=10, theta=1.0))
    counts = Counter(arrival.key for arrival in arrivals)
    assert [key for key, _ in counts.most_common()] == sorted(counts)
    assert counts["key-01"] / counts["key-02"] == pytest.approx(2.0, rel=0.05)
    for key, share in zip(sorted(counts), zipf(10, 1.0).tolist(), strict=True):
        assert counts[key] / 50_000 == pytest.approx(share, rel=0.05)
    assert {arrival.key for arrival in first(100, DemoSettings(keys=1))} == {"key-1"}


def test_every_shown_policy_is_one_of_the_library() -> None:
    assert set(SHOWN_POLICIES) <= set(POLICIES)


def test_every_queue_receives_and_accounts_for_every_update(report: DemoReport) -> None:
    assert report.arrived == pytest.approx(12_000, rel=0.05)
    for policy in report.policies:
        counted = policy.statistics
        assert counted.arrived == report.arrived
        assert counted.is_balanced
        assert counted.dequeued + counted.waiting + policy.skipped == report.arrived


def test_all_consumers_have_the_same_speed(report: DemoReport) -> None:
    for policy in report.policies:
        assert policy.statistics.delivered == pytest.approx(6.0 / SETTINGS.processing_cost, abs=2)


def test_the_append_queue_falls_behind_and_the_update_queues_do_not(report: DemoReport) -> None:
    earlier = run(SETTINGS, 3.0)
    for policy in ("fifo", "in-place", "linecutting", "index", "adaptive"):
        assert report.of("append").queue.mean > 5 * report.of(policy).queue.mean
    assert report.of("append").queue.mean > 1.8 * earlier.of("append").queue.mean
    assert report.of("index").queue.mean < 1.2 * earlier.of("index").queue.mean


def test_the_index_is_the_best_and_close_to_the_bound(report: DemoReport) -> None:
    index = report.of("index")
    assert index.queue.mean < 0.9 * report.of("in-place").queue.mean
    assert index.queue.times_the_bound == pytest.approx(1.03, abs=0.08)


def test_the_bound_is_that_of_the_rates_of_the_feed(report: DemoReport) -> None:
    rates = SETTINGS.updates_per_second * zipf(100, 1.2)
    known = staleness_lower_bound(rates, SETTINGS.processing_cost)
    assert report.of("index").queue.lower_bound == pytest.approx(known, rel=0.1)


def test_the_application_is_staler_than_the_queue_and_the_worst_key_than_the_mean(
    report: DemoReport,
) -> None:
    for policy in report.policies:
        assert policy.application.mean > policy.queue.mean
        assert policy.queue.worst > policy.queue.mean
        assert policy.queue.worst_key is not None


def test_the_adaptive_queue_keeps_every_update_until_too_many_wait(report: DemoReport) -> None:
    assert run(SETTINGS, 0.4).of("adaptive").skipped == 0
    assert report.of("adaptive").skipped > 0


def test_a_run_repeats_exactly(report: DemoReport) -> None:
    assert run(SETTINGS, 6.0) == report


def test_another_seed_is_another_run() -> None:
    assert run(replace(SETTINGS, seed=2), 1.0) != run(SETTINGS, 1.0)


def test_without_overload_there_is_no_bound_to_compare_with() -> None:
    report = run(replace(SETTINGS, load=0.5), 2.0)
    assert report.of("index").queue.lower_bound == 0.0
    assert report.of("index").queue.times_the_bound is None


def test_before_the_first_update_there_is_nothing_to_report() -> None:
    clock = ManualClock()
    report = Demo(SETTINGS, clock).report()
    assert report.arrived == 0
    assert all(policy.queue.worst_key is None for policy in report.policies)
    assert all(policy.queue.times_the_bound is None for policy in report.policies)


def test_a_late_machine_catches_up_and_measures_the_delay() -> None:
    clock = ManualClock()
    demo = Demo(SETTINGS, clock)
    run_until(demo, clock, 1.0)
    on_time = demo.report()
    clock.set(3.0)  # two seconds in which nothing was done
    demo.catch_up()
    late = demo.report()
    assert demo.next_due() > 3.0
    assert late.arrived == pytest.approx(3 * on_time.arrived, rel=0.1)
    served = late.of("index").statistics.delivered
    assert served == pytest.approx(3.0 / SETTINGS.processing_cost, abs=2)
    assert late.of("index").queue.mean > 5 * on_time.of("index").queue.mean


def test_catching_up_when_nothing_is_due_changes_nothing() -> None:
    clock = ManualClock()
    demo = Demo(SETTINGS, clock)
    before = run_until(demo, clock, 0.5)
    demo.catch_up()
    assert demo.report() == before


def make(*keys: str) -> tuple[ManualClock, UpdateQueue, Consumer]:
    """Return a consumer that has started, on a queue with an update of each of these keys."""
    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    for value, key in enumerate(keys):
        queue.enqueue(key, value)
    consumer = Consumer(queue, processing_cost=2.0)
    consumer.start(clock.now())
    return clock, queue, consumer


def test_a_consumer_with_nothing_to_do_is_idle_and_never_due() -> None:
    _, _, consumer = make()
    assert consumer.is_idle
    assert consumer.due == NEVER


def test_a_consumer_delivers_the_update_in_hand_and_takes_the_next() -> None:
    clock, queue, consumer = make("IBM", "MSFT")
    clock.set(2.0)
    consumer.finish()
    counted = queue.statistics()
    assert (counted.delivered, counted.in_process, counted.waiting) == (1, 1, 0)
    assert consumer.due == 4.0
    clock.set(4.0)
    consumer.finish()
    assert consumer.is_idle
    assert queue.processing_cost == 2.0


def test_a_consumer_that_is_called_late_counts_from_when_it_was_due() -> None:
    clock, queue, consumer = make("IBM", "MSFT")
    clock.set(3.5)
    consumer.finish()
    assert consumer.due == 4.0
    assert queue.application_staleness("IBM") == 3.5 / 2, "what the clock says, not the plan"


SLOW_FEED = DemoSettings(keys=10, updates_per_second=100.0)


class Run:
    def __init__(self, *, showing_takes: float = 0.0, stop_at: float = 1e9) -> None:
        self.clock = ManualClock(start=50.0)
        self.showing_takes = showing_takes
        self.stop_at = stop_at
        self.shown: list[DemoReport] = []
        self.sleeps: list[float] = []

    def show(self, report: DemoReport) -> None:
        self.shown.append(report)
        self.clock.advance(self.showing_takes)

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.clock.advance(seconds)

    def go(self, seconds: float) -> DemoReport:
        return run_in_real_time(
            Demo(SLOW_FEED, self.clock),
            seconds=seconds,
            show=self.show,
            seconds_between_shows=0.25,
            sleep=self.sleep,
            should_stop=lambda: self.clock.now() >= self.stop_at,
        )


def test_it_runs_for_as_long_as_asked_and_shows_at_each_interval() -> None:
    run = Run()
    report = run.go(2.0)
    assert report.elapsed == pytest.approx(2.0)
    assert [round(shown.elapsed, 6) for shown in run.shown] == [0.25 * n for n in range(1, 8)]
    assert report.arrived == pytest.approx(200, rel=0.25)


def test_it_sleeps_until_something_is_due_and_no_more_often() -> None:
    run = Run()
    report = run.go(2.0)
    assert sum(run.sleeps) == pytest.approx(2.0)
    events = report.arrived + report.of("index").statistics.delivered
    assert len(run.sleeps) <= 2 * events
    assert min(run.sleeps) > 0


def test_it_stops_when_told_to() -> None:
    run = Run(stop_at=50.6)
    assert run.go(2.0).elapsed == pytest.approx(0.6, abs=0.1)


def test_where_showing_takes_long_it_is_done_less_often() -> None:
    run = Run(showing_takes=0.1)
    report = run.go(4.0)
    assert len(run.shown) * 0.1 / 4.0 <= MOST_OF_THE_TIME_SHOWING + 0.03
    assert report.arrived == pytest.approx(400, rel=0.25), "it catches up with what it missed"


def test_a_run_shorter_than_the_interval_still_reports() -> None:
    run = Run()
    assert run.go(0.1).elapsed == pytest.approx(0.1)
    assert run.shown == []
