"""The counters of a queue that rested go on where they were."""

from __future__ import annotations

from api.lives import sum_of
from upstream import (
    InPlaceScheduler,
    LazyWindowBuffer,
    QueueStatistics,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
)


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
    queue = WindowQueue(WindowSpecification(1, 1), LazyWindowBuffer, InPlaceScheduler())
    for time in range(4):
        queue.enqueue("IBM", 1, float(time))
    first = queue.statistics()
    both = sum_of(first, first)
    assert both.windows.superseded == 2 * first.windows.superseded > 0
    assert both.tuples.arrived == 8
    assert both.is_balanced
