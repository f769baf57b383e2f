"""The consumer: fixed speed, idle when nothing waits, not slowed down by being called late."""

from __future__ import annotations

from simulator.demo.consumer import NEVER, Consumer
from upstream import InPlaceScheduler, ManualClock, UpdateQueue


def make() -> tuple[ManualClock, UpdateQueue, Consumer]:
    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    return clock, queue, Consumer(queue, processing_cost=2.0)


def test_a_consumer_with_nothing_to_do_is_idle_and_never_due() -> None:
    _, _, consumer = make()
    consumer.start(0.0)
    assert consumer.is_idle
    assert consumer.due == NEVER


def test_a_consumer_delivers_what_it_took_and_takes_the_next() -> None:
    clock, queue, consumer = make()
    queue.enqueue("IBM", 1)
    queue.enqueue("MSFT", 2)
    consumer.start(clock.now())
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
    clock, queue, consumer = make()
    queue.enqueue("IBM", 1)
    queue.enqueue("MSFT", 2)
    consumer.start(clock.now())
    clock.set(3.5)
    consumer.finish()
    assert consumer.due == 4.0
    assert queue.application_staleness("IBM") == 3.5 / 2, "what the clock says, not the plan"
