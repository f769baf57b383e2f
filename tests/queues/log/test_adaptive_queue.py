"""Adaptive queues keep every update while the consumer keeps up, and conflate when not."""

from __future__ import annotations

import math
import random
from typing import Unpack

import pytest

from upstream import (
    AdaptiveQueue,
    FifoScheduler,
    InPlaceScheduler,
    ManualClock,
    Outcome,
    ParameterError,
    Stream,
    StreamQueue,
)

from ..contract import QueueContract
from ..setting import Options, next_of, values_of


class TestAdaptive(QueueContract):
    """With the default bounds; nothing in the contract makes it conflate."""

    policy = "adaptive"

    def make(self, **options: Unpack[Options]) -> StreamQueue:
        return AdaptiveQueue(**options)


class TestAdaptiveUnderPressure(QueueContract):
    """With bounds so small that it changes its way again and again."""

    policy = "adaptive"

    def make(self, **options: Unpack[Options]) -> StreamQueue:
        return AdaptiveQueue(InPlaceScheduler(), max_waiting=4, **options)


def in_place(*, max_waiting: int, clock: ManualClock | None = None) -> AdaptiveQueue:
    clock = ManualClock() if clock is None else clock
    return AdaptiveQueue(InPlaceScheduler(), max_waiting=max_waiting, clock=clock)


def test_every_update_waits_while_no_more_than_the_bound_do() -> None:
    queue = in_place(max_waiting=4)
    assert {queue.enqueue("IBM", number) for number in range(4)} == {Outcome.WAITING}
    assert len(queue) == 4
    assert not queue.is_conflating
    assert values_of(queue.dequeue_many(9)) == [0, 1, 2, 3]
    assert queue.statistics().switches == 0


def test_past_the_bound_only_the_newest_of_each_key_goes_on_waiting_in_its_place() -> None:
    queue = in_place(max_waiting=5)
    for value, key in enumerate("ABACBA"):
        queue.enqueue(key, value)
    assert queue.is_conflating
    assert len(queue) == 3
    statistics = queue.statistics()
    assert (statistics.superseded, statistics.switches) == (3, 1)
    assert statistics.is_balanced
    assert [(update.key, update.value) for update in queue.dequeue_many(9)] == [
        ("A", 5),
        ("B", 4),
        ("C", 3),
    ]
    queue._check()


def test_while_it_conflates_it_is_an_update_queue() -> None:
    queue = in_place(max_waiting=2)
    for number in range(3):
        queue.enqueue("IBM", number, time=number)
    assert queue.enqueue("IBM", 4, time=4) is Outcome.SUPERSEDED
    assert queue.enqueue("IBM", 3, time=3) is Outcome.LATE
    assert queue.enqueue("MSFT", 5, time=0) is Outcome.WAITING
    assert values_of(queue.dequeue_many(9)) == [4, 5]


def test_a_batch_tells_what_became_of_its_rows() -> None:
    queue = in_place(max_waiting=1)
    outcome = queue.enqueue_many(["IBM"] * 3, [1, 2, 3])
    statistics = queue.statistics()
    assert outcome.superseded == statistics.superseded == 2
    assert outcome.waiting == statistics.waiting == 1


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


def test_one_hot_key_at_constant_overload_does_not_make_it_flutter() -> None:
    # One key never has more than one update waiting, however far behind the consumer is.
    clock = ManualClock()
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


def test_it_goes_back_when_the_consumer_catches_up_before_the_queue_is_empty() -> None:
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


def test_what_it_keeps_when_it_goes_back_waits_in_the_order_of_arrival() -> None:
    clock = ManualClock()
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


def test_keys_are_in_place_by_their_waits_after_it_has_switched_twice() -> None:
    clock = ManualClock()
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


def test_an_update_that_waits_too_long_makes_it_conflate() -> None:
    clock = ManualClock()
    queue = AdaptiveQueue(InPlaceScheduler(), max_age=5.0, clock=clock)
    for number in range(3):
        queue.enqueue("IBM", number)
    clock.advance(5.0)
    assert not queue.is_conflating
    clock.advance(0.5)
    assert queue.is_conflating
    assert values_of(queue.dequeue_many(9)) == [2]


def test_it_goes_back_only_when_none_waits_too_long() -> None:
    clock = ManualClock()
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


@pytest.mark.parametrize("bound", [0, -1, 2.5, math.nan, "5", None])
def test_the_bound_is_a_whole_number_above_zero(bound: object) -> None:
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(max_waiting=bound)  # type: ignore[arg-type]
    assert raised.value.name == "max_waiting"


@pytest.mark.parametrize("bound", [0.0, -1.0, math.nan, math.inf, "5"])
def test_the_bound_on_age_is_a_finite_number_above_zero(bound: object) -> None:
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(max_age=bound)  # type: ignore[arg-type]
    assert raised.value.name == "max_age"


@pytest.mark.parametrize("bound", [-1, 11, 2.5, "5"])
def test_what_may_wait_to_resume_is_at_most_the_bound(bound: object) -> None:
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(max_waiting=10, resume_waiting=bound)  # type: ignore[arg-type]
    assert raised.value.name == "resume_waiting"


@pytest.mark.parametrize("bound", [-1.0, 5.5, math.nan, "5"])
def test_the_age_to_resume_is_at_most_the_bound(bound: object) -> None:
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(max_age=5.0, resume_age=bound)  # type: ignore[arg-type]
    assert raised.value.name == "resume_age"


def test_fifo_cannot_serve_it() -> None:
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(FifoScheduler())
    assert raised.value.name == "scheduler"


def test_a_late_update_that_is_given_back_while_it_conflates_is_superseded() -> None:
    # The queue came when the key was known already, so all that it has seen of the key is late.
    stream = Stream(clock=ManualClock())
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
