"""Every window waits from its close until it is opened, and keys are ready while some are open."""

from __future__ import annotations

import pytest

from upstream import (
    Aggregate,
    AppendWindowQueue,
    ManualClock,
    WindowSpecification,
)

from ..window_kinds import Consumer, feed


def test_a_window_waits_from_its_close_until_it_is_opened(clock: ManualClock) -> None:
    queue = AppendWindowQueue(WindowSpecification(2, 2, tick=1), clock=clock)
    feed(queue, "IBM", range(6), clock=clock)  # closed at 1, 3 and 5
    clock.set(7)
    assert len(queue) == 1
    assert queue.queue_staleness("IBM") == pytest.approx(6 * 6 / 2 / 7)
    queue.dequeue()  # opens the first window; the next has waited since 3
    clock.set(8)
    area = 6 * 6 / 2 + (5 * 5 - 4 * 4) / 2
    assert queue.queue_staleness("IBM") == pytest.approx(area / 8)
    queue.dequeue_many(4)
    assert len(queue) == 0


def test_a_window_that_is_opened_while_it_is_open_never_waits(clock: ManualClock) -> None:
    queue = AppendWindowQueue(WindowSpecification(3, 3, tick=1), clock=clock)
    for time in range(9):
        feed(queue, "IBM", [time], clock=clock)
        queue.dequeue()
    clock.set(20)
    assert queue.queue_staleness() == 0


def test_keys_are_ready_while_the_operator_has_windows_of_theirs_open() -> None:
    queue = AppendWindowQueue(WindowSpecification(3, 3))
    feed(queue, "a", [0])
    feed(queue, "b", [0])
    queue.dequeue_many(2)
    statistics = queue.statistics()
    assert (statistics.under_processing, statistics.idle) == (2, 0)


def test_staleness_falls_to_the_close_of_the_next_window_even_if_that_was_closed_before() -> None:
    clock = ManualClock()
    queue = AppendWindowQueue(WindowSpecification(2, 2), clock=clock)
    count = Aggregate("count")
    feed(queue, "IBM", range(5), clock=clock)  # windows closed at 2 and at 4
    clock.set(6)
    for window_tuple in queue.dequeue_many(3):
        if (result := count.process(window_tuple)) is not None:
            queue.deliver(result)
    clock.set(10)
    area = (6 - 2) ** 2 / 2 + ((10 - 4) ** 2 - (6 - 4) ** 2) / 2
    assert queue.application_staleness("IBM") == pytest.approx(area / 10)


def test_windows_that_rounding_closes_together_are_all_complete() -> None:
    queue = AppendWindowQueue(WindowSpecification(0.3, 0.1, tick=0.1))
    consumer = Consumer(queue)
    for number in range(200):
        queue.enqueue("IBM", number, time=number * 0.1)
        consumer.serve()
    assert len(consumer.results) > 150
