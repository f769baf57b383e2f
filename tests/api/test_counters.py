"""Counters: summed, complete, and as the page shows them."""

from __future__ import annotations

from api.counters import counters_of, queue_counters, stream_counters, sum_of
from upstream import (
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    QueueStatistics,
    Stream,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
)


def window_queue(*, tuples: int) -> WindowQueue:
    """Return a queue of windows of two seconds, into which a tuple came every second."""
    queue = WindowQueue(WindowSpecification(2, 2), LazyWindowBuffer, InPlaceScheduler())
    for time in range(tuples):
        queue.enqueue("IBM", time, time=time)
    return queue


def test_every_counter_of_updates_is_added() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    for time in (2.0, 3.0, 1.0):
        queue.enqueue("IBM", 1, time)
    first = queue.statistics()
    both = sum_of(first, first)
    assert isinstance(both, QueueStatistics)
    assert (both.arrived, both.superseded, both.late, both.waiting) == (6, 2, 2, 2)
    assert both.is_balanced


def test_every_counter_of_windows_and_of_tuples_is_added() -> None:
    queue = window_queue(tuples=5)
    first = queue.statistics()
    both = sum_of(first, first)
    assert both.windows.superseded == 2 * first.windows.superseded > 0
    assert both.tuples.arrived == 10
    assert both.is_balanced


def test_a_queues_counters_are_its_statistics() -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    for value in range(3):
        queue.enqueue("IBM", value)
    queue.enqueue("GM", 1)
    update = queue.dequeue()
    assert update is not None
    queue.deliver(update)
    counts = queue_counters(queue.statistics())
    assert counts == {
        "arrived": 4,
        "superseded": 2,
        "dequeued": 1,
        "delivered": 1,
        "waiting": 1,
        "late": 0,
        "rejected": 0,
        "expired": 0,
        "shed": 0,
        "in_process": 0,
        "keys": 2,
    }


def test_a_window_queue_has_the_same_members_of_tuples_and_windows() -> None:
    queue = window_queue(tuples=5)
    counts = queue_counters(queue.statistics())
    plain = queue_counters(UpdateQueue(InPlaceScheduler()).statistics())
    assert counts.keys() == plain.keys()
    assert counts["arrived"] == 5
    assert counts["superseded"] == 1  # the window that closed at 2, by the one that closed at 4
    assert counts["waiting"] == 1


def test_a_streams_counters_are_its_statistics() -> None:
    stream = Stream(clock=ManualClock())
    stream.enqueue("IBM", 1, time=2)
    stream.enqueue("IBM", 0, time=1)
    assert stream_counters(stream.statistics()) == {
        "keys": 1,
        "arrived": 2,
        "late": 1,
        "rejected": 0,
    }


def test_the_counters_of_a_queue_have_names() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    queue.enqueue("IBM", 1)
    counters = counters_of(queue.statistics())
    assert counters["arrived"] == counters["waiting"] == 1


def test_those_of_windows_and_tuples_are_objects() -> None:
    counters = counters_of(window_queue(tuples=1).statistics())
    tuples = counters["tuples"]
    assert isinstance(tuples, dict)
    assert tuples["arrived"] == 1
