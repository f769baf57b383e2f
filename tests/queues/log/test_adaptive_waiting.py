"""When an adaptive queue changes its way, and what then waits and in which order."""

from __future__ import annotations

import random

from upstream import (
    AdaptiveQueue,
    InPlaceScheduler,
    ManualClock,
    Outcome,
    Stream,
)

from ..setting import next_of, values_of


def in_place(*, max_waiting: int, clock: ManualClock | None = None) -> AdaptiveQueue:
    clock = ManualClock() if clock is None else clock
    return AdaptiveQueue(InPlaceScheduler(), max_waiting=max_waiting, clock=clock)


def test_it_keeps_every_update_again_once_nothing_waits() -> None:
    queue = in_place(max_waiting=2)
    for number in range(3):
        queue.enqueue("IBM", number)
    assert queue.is_conflating
    next_of(queue)
    assert queue.dequeue() is None
    assert not queue.is_conflating
    assert queue.statistics().switches == 2
    for number in range(2):
        assert queue.enqueue("IBM", number) is Outcome.WAITING
    assert values_of(queue.dequeue_many(9)) == [0, 1]


def test_one_hot_key_at_constant_overload_does_not_make_it_flutter(clock: ManualClock) -> None:
    # One key never has more than one update waiting, however far behind the consumer is.
    queue = in_place(max_waiting=8, clock=clock)
    for number in range(3_000):
        queue.enqueue("IBM", number)
        if number % 3 == 0:
            queue.deliver_many(queue.dequeue_many(1))
        clock.advance(1.0)
    statistics = queue.statistics()
    assert statistics.switches == 1
    assert statistics.is_balanced
    assert len(queue) == 1


def test_many_keys_at_constant_overload_do_not_make_it_flutter() -> None:
    seeded = random.Random(3)
    queue = in_place(max_waiting=20)
    for number in range(6_000):
        queue.enqueue(min(int(seeded.paretovariate(0.7)), 60), number)
        if number % 3 == 0:
            queue.deliver_many(queue.dequeue_many(1))
    assert queue.statistics().switches == 1


def test_it_stops_conflating_when_the_consumer_has_caught_up_before_the_queue_is_empty() -> None:
    queue = in_place(max_waiting=10)
    for number in range(40):
        queue.enqueue(number % 10, number)
    assert queue.is_conflating
    served = []
    for number in range(200):
        queue.enqueue(100 + number, number)
        served += queue.dequeue_many(2 if len(queue) > 3 else 1)
    assert len(queue) > 0
    assert not queue.is_conflating
    assert queue.statistics().switches == 2
    assert queue.statistics().superseded == 30
    assert queue.statistics().is_balanced
    queue._check()


def test_updates_wait_in_the_order_of_arrival_after_conflation_ends(clock: ManualClock) -> None:
    queue = AdaptiveQueue(InPlaceScheduler(), max_waiting=4, resume_waiting=3, clock=clock)
    for number in range(5):
        queue.enqueue("ABCDA"[number], number)
        clock.advance(1.0)
    assert queue.is_conflating
    queue.enqueue("B", 5)
    assert next_of(queue).key == "A"
    assert not queue.is_conflating, "three wait, and one was served that superseded nothing"
    assert values_of(queue.snapshot()) == [2, 3, 5]
    assert queue.statistics().superseded == 2
    queue._check()


def test_keys_are_in_place_by_their_waits_after_it_has_switched_twice(clock: ManualClock) -> None:
    queue = AdaptiveQueue(InPlaceScheduler(), max_waiting=4, clock=clock)
    for key in "febdb--aaa":
        if key == "-":
            queue.deliver(next_of(queue))
        else:
            queue.enqueue(key, key)
        clock.advance(1.0)
    assert queue.is_conflating
    assert queue.statistics().switches == 3
    queue._check()
    assert [update.key for update in queue.dequeue_many(9)] == ["b", "d", "a"]


def test_an_update_that_waits_too_long_makes_it_conflate(clock: ManualClock) -> None:
    queue = AdaptiveQueue(InPlaceScheduler(), max_age=5.0, clock=clock)
    for number in range(3):
        queue.enqueue("IBM", number)
    clock.advance(5.0)
    assert not queue.is_conflating
    clock.advance(0.5)
    assert queue.is_conflating
    assert values_of(queue.dequeue_many(9)) == [2]


def test_it_stops_conflating_only_when_no_update_waits_too_long(clock: ManualClock) -> None:
    queue = AdaptiveQueue(
        InPlaceScheduler(), max_waiting=2, max_age=100.0, resume_age=1.0, clock=clock
    )
    for key in "ABC":
        queue.enqueue(key, key)
    assert queue.is_conflating
    clock.advance(2.0)
    assert values_of(queue.dequeue_many(2)) == ["A", "B"]
    assert queue.is_conflating, "C has waited for two seconds"
    queue.dequeue_many(2)
    assert not queue.is_conflating


def test_a_returned_older_value_waits_while_it_keeps_all_and_not_while_it_conflates() -> None:
    for is_conflating in (False, True):
        queue = in_place(max_waiting=2)
        queue.enqueue("IBM", 0)
        older = next_of(queue)
        for number in range(1, 4 if is_conflating else 3):
            queue.enqueue("IBM", number)
        assert queue.is_conflating is is_conflating
        queue.give_back(older)
        # The returned one is the third, which makes the queue conflate when it is next looked at.
        assert queue.read("IBM") == queue.snapshot()[0]
        assert values_of(queue.dequeue_many(9)) == [3 if is_conflating else 2]
        assert queue.statistics().is_balanced
        queue._check()


def test_a_late_update_that_is_given_back_while_it_conflates_is_superseded(stream: Stream) -> None:
    # The queue came when the key was known already, so all that it has seen of the key is late.
    stream.enqueue("A", "before the queue", time=9)
    queue = AdaptiveQueue(InPlaceScheduler(), max_waiting=1)
    stream.attach(queue)
    stream.enqueue("A", "late", time=3)
    update = next_of(queue)
    stream.enqueue("A", "later", time=2)
    stream.enqueue("B", "makes it conflate", time=9)
    assert queue.is_conflating
    queue.give_back(update)
    queue._check()
    assert queue.statistics().superseded == 2, "nothing late waits while it conflates"
    assert values_of(queue.dequeue_many(9)) == ["makes it conflate"]
