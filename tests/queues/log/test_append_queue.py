"""Append queues keep every update; full, they reject, or shed one at random."""

from __future__ import annotations

from collections import Counter
from typing import Unpack

import pytest

from upstream import (
    AppendQueue,
    ManualClock,
    Outcome,
    ParameterError,
    RandomShedding,
    Stream,
    StreamQueue,
)

from ..contract import QueueContract
from ..setting import Options, next_of, values_of


class TestAppend(QueueContract):
    policy = "append"

    def make(self, **options: Unpack[Options]) -> StreamQueue:
        return AppendQueue(**options)


class TestAppendShedding(QueueContract):
    policy = "append-shedding"

    def make(self, **options: Unpack[Options]) -> StreamQueue:
        return AppendQueue(capacity=1_000, shedding=RandomShedding(seed=1), **options)


def test_every_update_waits_and_they_leave_in_the_order_of_their_arrival() -> None:
    queue = AppendQueue(clock=ManualClock())
    for value, (key, time) in enumerate([("A", 3), ("B", 1), ("A", 5), ("A", 4), ("B", 1)]):
        assert queue.enqueue(key, value, time) is Outcome.WAITING
    assert len(queue) == 5
    assert values_of(queue.dequeue_many(9)) == [0, 1, 2, 3, 4]
    assert queue.statistics().late == queue.statistics().superseded == 0


def test_read_returns_the_newest_waiting_update_even_if_an_older_one_arrived_later() -> None:
    queue = AppendQueue(clock=ManualClock())
    queue.enqueue("IBM", 25.0, time=5)
    queue.enqueue("IBM", 24.0, time=3)
    newest = queue.read("IBM")
    assert newest is not None
    assert newest.value == 25.0


def test_an_update_that_is_given_back_waits_before_later_arrivals() -> None:
    queue = AppendQueue(clock=ManualClock())
    queue.enqueue_many(list("ABAB"), [0, 1, 2, 3])
    updates = queue.dequeue_many(3)
    queue.enqueue("A", 4)
    for update in (updates[2], updates[0]):
        queue.give_back(update)
    assert values_of(queue.snapshot()) == [0, 2, 3, 4]
    assert queue.statistics().superseded == 0
    assert values_of(queue.dequeue_many(9)) == [0, 2, 3, 4]
    queue._check()


def test_a_full_queue_rejects_every_update_even_of_a_waiting_key() -> None:
    queue = AppendQueue(clock=ManualClock(), capacity=2)
    assert [queue.enqueue("A", number) for number in range(3)] == [
        Outcome.WAITING,
        Outcome.WAITING,
        Outcome.REJECTED,
    ]
    assert queue.statistics().rejected == 1
    assert values_of(queue.dequeue_many(9)) == [0, 1]


def test_a_batch_into_a_full_queue_tells_which_rows_were_rejected() -> None:
    queue = AppendQueue(clock=ManualClock(), capacity=3)
    queue.enqueue("A", 0)
    outcome = queue.enqueue_many(list("ABCD"), [1, 2, 3, 4])
    assert (outcome.waiting, outcome.rejected) == (2, 2)
    assert outcome.rejected_rows == (2, 3)
    assert values_of(queue.dequeue_many(9)) == [0, 1, 2]


def test_outcomes_do_not_count_updates_that_the_stream_received_before(clock: ManualClock) -> None:
    queue = AppendQueue(clock=clock, capacity=1, time_to_live=1.0)
    for key in "ab":
        queue.stream.enqueue(key, key)
    clock.advance(5.0)
    assert queue.enqueue("c", "c") is Outcome.WAITING
    assert queue.statistics().rejected == 1


def test_queues_of_one_stream_have_capacities_of_their_own(stream: Stream) -> None:
    small, large = AppendQueue(capacity=1), AppendQueue(capacity=3)
    stream.attach(small)
    stream.attach(large)
    stream.enqueue_many(["A"] * 5, list(range(5)))
    assert (small.statistics().rejected, large.statistics().rejected) == (4, 2)
    assert values_of(small.dequeue_many(9)) == [0]
    assert values_of(large.dequeue_many(9)) == [0, 1, 2]


def test_staleness_falls_to_the_next_update_of_the_key_and_not_to_nothing() -> None:
    clock = ManualClock()
    queue = AppendQueue(clock=clock)
    for _ in range(3):
        queue.enqueue("IBM", 24.0)
        clock.advance(2.0)
    # at 6: arrived at 0, 2 and 4; queue staleness 6, then 4 after the first is gone
    area = queue.queue_staleness("IBM") * 6.0
    assert area == pytest.approx(18.0)
    first = next_of(queue)
    clock.advance(1.0)
    assert queue.queue_staleness("IBM") * 7.0 - area == pytest.approx(4.5)
    queue.deliver(first)
    area = queue.application_staleness("IBM") * 7.0
    clock.advance(1.0)
    assert queue.application_staleness("IBM") * 8.0 - area == pytest.approx(5.5)


def test_an_old_update_that_expires_takes_no_arrival_of_a_newer_one_with_it() -> None:
    clock = ManualClock()
    queue = AppendQueue(clock=clock, time_to_live=2.0)
    for number in range(3):
        queue.enqueue("A", number)
    clock.advance(0.5)
    queue.enqueue("A", 3)
    first, second, third = queue.dequeue_many(3)
    clock.advance(0.5)
    queue.deliver(second)
    queue.give_back(first)
    clock.advance(1.0)
    last = next_of(queue)
    assert (last.value, queue.statistics().expired) == (3, 1)
    queue.deliver(third)  # at 2: staleness falls to the arrival of the last, at 0.5
    clock.advance(0.25)
    queue.deliver(last)
    assert queue.application_staleness("A") * 2.25 == pytest.approx(2.0 + (1.5 + 1.75) / 2 * 0.25)


# Random load shedding.


def shed_values(seed: int, rounds: int) -> list[object]:
    """Fill a queue of nine with ten updates, again and again; return which one was dropped."""
    queue = AppendQueue(clock=ManualClock(), capacity=9, shedding=RandomShedding(seed))
    dropped: list[object] = []
    for _ in range(rounds):
        for number in range(10):
            assert queue.enqueue("IBM", number) is Outcome.WAITING
        served = set(values_of(queue.dequeue_many(20)))
        dropped += set(range(10)) - served
    assert queue.statistics().shed == rounds == len(dropped)
    return dropped


def test_each_waiting_update_and_the_arriving_one_are_equally_likely_to_be_shed() -> None:
    counts = Counter(shed_values(seed=7, rounds=500))
    chi_square = sum((counts[number] - 50.0) ** 2 / 50.0 for number in range(10))
    assert chi_square < 21.67, "more than 1 in 100 samples of a fair choice has (9 degrees)"


def test_shedding_repeats_with_its_seed() -> None:
    assert shed_values(seed=1, rounds=50) == shed_values(seed=1, rounds=50)
    assert shed_values(seed=1, rounds=50) != shed_values(seed=2, rounds=50)


def test_a_queue_that_sheds_rejects_nothing_and_stays_full() -> None:
    queue = AppendQueue(clock=ManualClock(), capacity=5, shedding=RandomShedding(seed=3))
    outcome = queue.enqueue_many([number % 3 for number in range(200)], list(range(200)))
    assert outcome.rejected == 0
    statistics = queue.statistics()
    assert (statistics.waiting, statistics.shed, statistics.rejected) == (5, 195, 0)
    kept = [value for value in values_of(queue.dequeue_many(9)) if isinstance(value, int)]
    assert kept == sorted(kept)
    queue._check()


def test_the_application_is_stale_from_an_update_that_was_shed(clock: ManualClock) -> None:
    queue = AppendQueue(clock=clock, capacity=1, shedding=RandomShedding(seed=2))
    queue.enqueue("IBM", 0)
    clock.advance(1.0)
    for number in range(1, 20):
        queue.enqueue("IBM", number)
    assert queue.statistics().shed == 19
    clock.advance(1.0)
    update = next_of(queue)
    assert isinstance(update.value, int)
    assert 0 < update.value < 19, "with this seed neither the first nor the last is left"
    queue.deliver(update)
    area = queue.application_staleness("IBM") * 2.0
    clock.advance(1.0)
    # Stale still, since the ones after it arrived at 1, and never delivered: 1 at 2, 2 at 3.
    assert queue.application_staleness("IBM") * 3.0 - area == pytest.approx(1.5)


def test_shedding_without_a_capacity_is_an_error() -> None:
    with pytest.raises(ParameterError) as raised:
        AppendQueue(shedding=RandomShedding(seed=1))
    assert raised.value.name == "shedding"
