"""Staleness lines: by logs written by hand, and against what the queues measure."""

from __future__ import annotations

import time

import pytest

from simulator.model.event_log import EventLog
from simulator.model.policy_run import PolicyRun
from simulator.model.staleness_lines import (
    Segment,
    corners,
    mean_staleness,
    staleness_line,
    staleness_lines,
)
from simulator.workloads.sources import FixedInterval, Poisson
from simulator.workloads.workload import Workload, uniform, zipf
from upstream.events import EventKind

KINDS = {"+": EventKind.ARRIVAL, "-": EventKind.DEQUEUE, "!": EventKind.DELIVERY}


def written(text: str) -> EventLog:
    """Return a log written as `time key sign number` (+ arrival, - dequeue, ! delivery), by ;."""
    log = EventLog()
    for event in text.split(";"):
        moment, key, sign, number = event.split()
        log.note(float(moment), KINDS[sign], key, int(number))
    return log


def line(text: str, of: str, end: float) -> list[tuple[float, float, float | None]]:
    """Return the line of key k as (start, end, since)."""
    segments = staleness_line(written(text), "k", of=of, end=end)
    return [(segment.start, segment.end, segment.since) for segment in segments]


# time         0   1   2   3   4   5   6   7   8   9
# arrivals     a       b       c
# dequeued     a           b           c
# delivered                a           b       c
# queue        0       0---1   0-------2
# application  0-----------3
#                          1-----------4
#                                      2-------4
ONE_KEY = "0 k + 0; 0 k - 0; 2 k + 1; 3 k ! 0; 3 k - 1; 4 k + 2; 6 k ! 1; 6 k - 2; 8 k ! 2"


def test_queue_staleness_counts_from_the_first_arrival_after_the_last_dequeue() -> None:
    assert line(ONE_KEY, "queue", 9.0) == [
        (0.0, 0.0, 0.0),
        (0.0, 2.0, None),
        (2.0, 3.0, 2.0),
        (3.0, 4.0, None),
        (4.0, 6.0, 4.0),
        (6.0, 9.0, None),
    ]


def test_application_staleness_counts_from_the_oldest_arrival_that_is_not_delivered() -> None:
    assert line(ONE_KEY, "application", 9.0) == [
        (0.0, 3.0, 0.0),
        (3.0, 6.0, 2.0),
        (6.0, 8.0, 4.0),
        (8.0, 9.0, None),
    ]


def test_a_superseded_update_still_counts_from_its_arrival() -> None:
    # c supersedes b, which is never served: what the application has is stale since b came
    superseded = "0 k + 0; 0 k - 0; 1 k + 1; 2 k + 2; 3 k ! 0; 3 k - 2; 6 k ! 2"
    assert line(superseded, "queue", 7.0)[2:] == [(1.0, 3.0, 1.0), (3.0, 7.0, None)]
    assert line(superseded, "application", 7.0) == [
        (0.0, 3.0, 0.0),
        (3.0, 6.0, 1.0),
        (6.0, 7.0, None),
    ]


def test_a_delivery_out_of_order_changes_nothing() -> None:
    two_servers = "0 k + 0; 0 k - 0; 1 k + 1; 1 k - 1; 2 k ! 1; 4 k ! 0"
    assert line(two_servers, "application", 5.0) == [(0.0, 2.0, 0.0), (2.0, 5.0, None)]


def test_arrivals_at_the_same_time_count_once() -> None:
    both = "1 k + 0; 1 k + 1; 1 k - 0; 3 k ! 0; 3 k - 1; 5 k ! 1"
    assert line(both, "application", 6.0) == [(1.0, 5.0, 1.0), (5.0, 6.0, None)]


def test_a_line_that_ends_while_something_waits_ends_high() -> None:
    assert line("1 k + 0", "queue", 4.0) == [(1.0, 4.0, 1.0)]


def test_each_key_has_its_own_line_from_its_first_arrival_on() -> None:
    log = written("0 k + 0; 0 k - 0; 1 m + 1; 2 k ! 0; 2 m - 1; 4 m ! 1")
    lines = staleness_lines(log, of="application", end=5.0)
    assert lines == {
        "k": [Segment(0.0, 2.0, 0.0), Segment(2.0, 5.0, None)],
        "m": [Segment(1.0, 4.0, 1.0), Segment(4.0, 5.0, None)],
    }
    assert staleness_line(log, "m", of="application", end=5.0) == lines["m"]


def test_a_key_that_never_arrived_has_no_line() -> None:
    assert staleness_line(written("0 m + 0"), "k", of="queue", end=1.0) == []
    assert staleness_lines(EventLog(), of="queue", end=1.0) == {}


def test_the_mean_is_the_area_over_the_time_since_the_first_arrival() -> None:
    log = written(ONE_KEY)
    application = staleness_line(log, "k", of="application", end=10.0)
    areas = [4.5, 7.5, 6.0, 0.0]  # 0 to 3, 1 to 4, 2 to 4
    assert [segment.area for segment in application] == areas
    assert mean_staleness(application) == sum(areas) / 10.0
    assert mean_staleness(staleness_line(log, "k", of="queue", end=10.0)) == (0.5 + 2.0) / 10.0


def test_the_mean_of_a_line_without_duration_is_0() -> None:
    assert mean_staleness([Segment(2.0, 2.0, 2.0)]) == 0.0


def test_the_corners_are_where_a_line_turns_or_falls() -> None:
    assert corners(staleness_line(written(ONE_KEY), "k", of="queue", end=7.0)) == [
        *[(0.0, 0.0), (2.0, 0.0), (3.0, 1.0), (3.0, 0.0)],
        *[(4.0, 0.0), (6.0, 2.0), (6.0, 0.0), (7.0, 0.0)],
    ]
    assert corners([]) == []


@pytest.mark.parametrize("cost", [0.7, 3.0])
@pytest.mark.parametrize("workload", [Poisson(zipf(7, 1.0)), FixedInterval(uniform(3))])
@pytest.mark.parametrize(
    "policy", ["append", "adaptive", "fifo", "in-place", "linecutting", "index"]
)
def test_the_lines_have_the_means_that_the_queues_measure(
    policy: str, workload: Workload, cost: float
) -> None:
    run = PolicyRun(policy=policy, workload=workload, cost=cost, updates=400, is_logged=True)
    simulation, subscriber = run.set_up()
    simulation.run(run.updates)
    assert subscriber.log is not None
    for of in ("queue", "application"):
        lines = staleness_lines(subscriber.log, of=of, end=simulation.now)
        drawn = {key: mean_staleness(line) for key, line in lines.items()}
        assert drawn == pytest.approx(subscriber.queue.staleness_by_key(of))


def test_a_long_backlog_and_many_keys_are_drawn_in_linear_time() -> None:
    log = EventLog()
    keys = [number % 1_000 if number % 2 else "busy" for number in range(100_000)]
    for number, key in enumerate(keys):
        log.note(float(number), EventKind.ARRIVAL, key, number)
    for number, key in enumerate(keys):
        log.note(100_000.0 + number, EventKind.DELIVERY, key, number)
    start = time.perf_counter()
    lines = staleness_lines(log, of="application", end=200_000.0)
    assert time.perf_counter() - start < 10.0, "far less than a walk over what waits would take"
    assert len(lines.pop("busy")) == 50_001
    assert [len(line) for line in lines.values()] == [101] * 500
