"""What every kind of queue must do; the test of each policy is a subclass of this suite."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from upstream import (
    TOMBSTONE,
    KeyNotHashableError,
    KeyStaleness,
    ManualClock,
    NotInProcessError,
    Outcome,
    QueueStatistics,
    StreamQueue,
    UnknownKeyError,
    Update,
)

from .contract_of_input import InputContract
from .contract_of_keys import KeyContract
from .contract_of_streams import StreamContract
from .setting import USES, copy_of, next_of


class QueueContract(KeyContract, InputContract, StreamContract):
    """The whole contract."""

    # Enqueue, dequeue, read.

    def test_nothing_is_in_a_new_queue(self, queue: StreamQueue) -> None:
        assert len(queue) == 0
        assert queue.dequeue() is queue.peek() is queue.read("IBM") is None
        assert queue.dequeue_many(3) == queue.snapshot() == []
        assert queue.statistics() == QueueStatistics(*[0] * 15)
        assert queue.queue_staleness() == queue.application_staleness() == 0.0

    def test_a_dequeued_update_equals_the_enqueued_one(self, queue: StreamQueue) -> None:
        assert queue.enqueue("IBM", 24.0, time=3) is Outcome.WAITING
        assert len(queue) == 1
        assert queue.dequeue() == Update("IBM", 24.0, 3.0)
        assert queue.dequeue() is None

    def test_an_update_without_a_time_has_the_clocks(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        clock.advance(7.5)
        queue.enqueue("IBM", 24.0)
        queue.enqueue_many(["MSFT"], [50.0])
        assert {update.time for update in queue.dequeue_many(2)} == {7.5}

    def test_every_kind_of_hashable_is_a_key_and_none_is_the_same_as_another(
        self, queue: StreamQueue
    ) -> None:
        keys: list[object] = ["IBM", b"IBM", ("IBM", 1), 7, 2.5, None, frozenset({1}), ""]
        for number, key in enumerate(keys):
            queue.enqueue(key, number)
        served = {update.key: update.value for update in queue.dequeue_many(100)}
        assert served == {key: number for number, key in enumerate(keys)}

    def test_any_object_is_a_value(self, queue: StreamQueue) -> None:
        values: list[object] = [None, math.nan, [1], {"a": object()}, False]
        for number, value in enumerate(values):
            queue.enqueue(number, value)
        served = {update.key: update.value for update in queue.dequeue_many(5)}
        assert all(served[number] is value for number, value in enumerate(values))

    def test_peek_returns_what_dequeue_would_return(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        for number in range(20):
            queue.enqueue(number % 7, number)
            clock.advance(1.0)
        while len(queue):
            peeked = queue.peek()
            assert peeked == queue.peek()
            assert peeked == queue.dequeue()
            clock.advance(0.5)
        assert queue.peek() is None

    def test_waiting_since_is_the_earliest_arrival_of_a_waiting_update(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        assert queue.waiting_since() is None
        clock.set(5.0)
        queue.enqueue("A", 1)
        clock.set(6.0)
        queue.enqueue_many(["B", "A"], [2, 3])
        for _ in range(2):
            assert queue.waiting_since() == queue.stream.now() - 1.0 == 5.0
        queue.forget("A")
        assert queue.waiting_since() == 6.0
        served = next_of(queue)
        assert queue.waiting_since() is None
        clock.set(9.0)
        queue.enqueue("C", 4)
        assert queue.waiting_since() == 9.0
        queue.give_back(served)
        assert queue.waiting_since() == 6.0

    def test_reading_changes_nothing(self, queue: StreamQueue, clock: ManualClock) -> None:
        queue.enqueue_many(["A", "B", "A"], [1, 2, 3])
        clock.advance(1.0)
        before = queue.statistics()
        for _ in range(2):
            newest = queue.read("A")
            assert newest is not None
            assert newest.value == 3
            assert queue.read("C") is None
            assert {(update.key, update.value) for update in queue.snapshot()} >= {
                ("A", 3),
                ("B", 2),
            }
        assert queue.statistics() == before
        assert len(queue.snapshot()) == len(queue)

    def test_dequeue_many_hands_out_what_as_many_dequeues_would(self) -> None:
        one, many = self.make(clock=ManualClock()), self.make(clock=ManualClock())
        for queue in (one, many):
            for number in range(30):
                queue.enqueue(number % 11, number)
        expected = [next_of(one) for _ in range(5)]
        assert many.dequeue_many(5) == expected
        assert many.dequeue_many(0) == []
        assert many.dequeue_many(100) == one.dequeue_many(100)
        assert many.dequeue_many(1) == []

    @pytest.mark.parametrize("columns", [list, tuple, np.array])
    def test_a_batch_gives_what_its_rows_would_give(
        self, columns: Callable[[list[int]], list[int]]
    ) -> None:
        seeded = random.Random(5)
        rows = [(seeded.randrange(9), number, seeded.randrange(50)) for number in range(60)]
        single, batch = self.make(clock=ManualClock()), self.make(clock=ManualClock())
        for key, value, time in rows:
            single.enqueue(key, value, time)
        outcome = batch.enqueue_many(*(columns(list(column)) for column in zip(*rows, strict=True)))
        assert outcome.waiting + outcome.superseded + outcome.late + outcome.rejected == 60
        assert batch.statistics() == single.statistics()
        assert batch.dequeue_many(100) == single.dequeue_many(100)

    def test_an_empty_batch_is_no_update(self, queue: StreamQueue) -> None:
        outcome = queue.enqueue_many([], [], [])
        assert outcome.waiting == outcome.superseded == outcome.late == outcome.rejected == 0
        assert queue.statistics() == QueueStatistics(*[0] * 15)

    # Deliver and give back.

    def test_a_dequeued_update_is_in_process_until_it_is_delivered(
        self, queue: StreamQueue
    ) -> None:
        queue.enqueue_many(["A", "B"], [1, 2])
        updates = queue.dequeue_many(2)
        statistics = queue.statistics()
        assert (statistics.dequeued, statistics.in_process, statistics.delivered) == (2, 2, 0)
        queue.deliver_many(updates)
        statistics = queue.statistics()
        assert (statistics.dequeued, statistics.in_process, statistics.delivered) == (2, 0, 2)

    def test_an_update_that_is_given_back_waits_again(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", 24.0, time=3)
        update = next_of(queue)
        assert queue.read("IBM") is None
        queue.give_back(update)
        assert queue.read("IBM") == update
        statistics = queue.statistics()
        assert (statistics.returned, statistics.waiting, statistics.in_process) == (1, 1, 0)
        assert queue.dequeue() == update

    def test_an_update_that_is_given_back_waits_since_its_original_arrival(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        # 0 arrives, 2 dequeued, 5 given back, 6 dequeued: it waited from 0 to 2 and, in the end,
        # all of 0 to 6, of which 2 to 5 had not been counted. At 5 it is 5 old, at 6 it is 6.
        queue.enqueue("IBM", 24.0)
        clock.advance(2.0)
        update = next_of(queue)
        clock.advance(3.0)
        queue.give_back(update)
        assert queue.queue_staleness("IBM") * 5.0 == pytest.approx(2.0)
        clock.advance(1.0)
        assert queue.queue_staleness("IBM") * 6.0 == pytest.approx(2.0 + 5.5)
        assert queue.application_staleness("IBM") * 6.0 == pytest.approx(18.0)

    def test_an_update_during_processing_waits_as_usual(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", 24.0, time=0)
        first = next_of(queue)
        assert queue.enqueue("IBM", 25.0, time=1) is Outcome.WAITING
        queue.deliver(first)
        assert next_of(queue).value == 25.0

    def test_copies_of_updates_can_be_delivered_and_given_back(self, queue: StreamQueue) -> None:
        queue.enqueue_many(["A", "B"], [1, 2])
        first, second = queue.dequeue_many(2)
        queue.deliver(copy_of(first))
        queue.give_back(copy_of(second))
        statistics = queue.statistics()
        assert (statistics.delivered, statistics.returned, statistics.in_process) == (1, 1, 0)
        assert queue.dequeue() == second

    def test_a_copy_stands_for_its_own_update_among_several_with_equal_times(
        self, queue: StreamQueue
    ) -> None:
        queue.enqueue("IBM", 24.0, time=0)
        first = next_of(queue)
        queue.enqueue("IBM", 25.0, time=0)
        second = next_of(queue)
        queue.give_back(copy_of(second))
        queue.deliver(first)
        assert queue.dequeue() == second

    @pytest.mark.parametrize("method", ["deliver", "give_back"])
    @pytest.mark.parametrize("before", ["deliver", "give_back"])
    def test_an_update_comes_back_only_once(
        self, queue: StreamQueue, before: str, method: str
    ) -> None:
        queue.enqueue("IBM", 24.0)
        update = next_of(queue)
        USES[before](queue, update)
        statistics = queue.statistics()
        for twin in (update, copy_of(update)):
            with pytest.raises(NotInProcessError) as raised:
                USES[method](queue, twin)
            assert raised.value.update == update
        assert queue.statistics() == statistics

    @pytest.mark.parametrize("method", ["deliver", "give_back"])
    def test_an_update_that_was_not_dequeued_cannot_be_delivered_or_given_back(
        self, queue: StreamQueue, clock: ManualClock, method: str
    ) -> None:
        queue.enqueue("IBM", 24.0, time=0)
        queue.enqueue("MSFT", 24.0, time=0)
        waiting = [update for update in queue.snapshot() if update != queue.peek()]
        queue.dequeue()
        other = self.make(clock=clock)
        other.enqueue("ORCL", 24.0, time=0)
        strangers = [*waiting, next_of(other), Update("IBM", 24.0, 1.0), None, "IBM"]
        before = queue.statistics()
        for stranger in strangers:
            with pytest.raises(NotInProcessError):
                USES[method](queue, stranger)  # type: ignore[arg-type]
        assert queue.statistics() == before

    def test_beyond_the_limit_the_oldest_update_in_process_is_taken_as_delivered(
        self, clock: ManualClock
    ) -> None:
        queue = self.make(clock=clock, in_process_limit=2)
        for key in "ABC":
            queue.enqueue(key, key)
            clock.advance(1.0)
        first, second, third = queue.dequeue_many(3)
        statistics = queue.statistics()
        assert (statistics.taken_as_delivered, statistics.delivered) == (1, 1)
        assert statistics.in_process == 2
        queue.deliver(first)
        assert queue.statistics() == statistics
        queue.deliver_many([second, third])
        statistics = queue.statistics()
        assert (statistics.taken_as_delivered, statistics.delivered) == (1, 3)
        assert statistics.in_process == 0
        assert statistics.is_balanced

    def test_a_queue_with_returned_updates_can_be_looked_at_and_closed(
        self, queue: StreamQueue
    ) -> None:
        queue.enqueue_many(["A", "B", "C"], [1, 2, 3])
        for update in queue.dequeue_many(2):
            queue.give_back(update)
        assert sorted(str(update.key) for update in queue.snapshot()) == ["A", "B", "C"]
        queue._check()
        assert queue.close().waiting == 3

    # Staleness.

    def test_staleness_is_integrated_exactly(self, queue: StreamQueue, clock: ManualClock) -> None:
        #  time         0       2           5         8
        #  IBM          arrives dequeued    delivered
        #  queue        0 ----> 2, 0
        #  application  0 ------------------> 5, 0
        queue.enqueue("IBM", 24.0)
        clock.advance(2.0)
        update = next_of(queue)
        clock.advance(3.0)
        queue.deliver(update)
        clock.advance(3.0)
        assert queue.queue_staleness("IBM") == pytest.approx(2.0 / 8.0)
        assert queue.application_staleness("IBM") == pytest.approx(12.5 / 8.0)
        assert queue.processing_cost == pytest.approx(3.0)

    def test_staleness_is_averaged_over_time_and_then_over_keys(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        # A has been there for 8 seconds and waited all the time, B for 2: 4 and 1 on average.
        queue.enqueue("A", 1)
        clock.advance(6.0)
        queue.enqueue("B", 1)
        clock.advance(2.0)
        assert queue.queue_staleness() == pytest.approx((4.0 + 1.0) / 2.0)
        assert queue.application_staleness() == pytest.approx((4.0 + 1.0) / 2.0)
        for of in ("queue", "application"):
            assert queue.staleness_by_key(of) == pytest.approx({"A": 4.0, "B": 1.0})

    def test_key_staleness_has_the_present_and_mean_staleness_of_each_key(
        self, clock: ManualClock
    ) -> None:
        #  time  0                6        8       9
        #  A     waits --------------------------->
        #  B                      waits -> served, not delivered
        queue = self.make(clock=clock, rates={"A": 0.5})
        queue.enqueue("A", 1)
        clock.advance(6.0)
        queue.enqueue("B", 1)
        clock.advance(2.0)
        for update in queue.dequeue_many(2):
            if update.key == "A":
                queue.give_back(update)
        clock.advance(1.0)
        rows = {row.key: row for row in queue.key_staleness()}
        assert set(rows) == {"A", "B"}
        assert rows["A"] == pytest.approx(KeyStaleness("A", 0.5, 4.5, 4.5, 9.0, 9.0, 9.0))
        assert rows["B"] == pytest.approx(KeyStaleness("B", None, 2.0 / 3.0, 1.5, 0.0, 3.0, 3.0))

    def test_staleness_of_an_unknown_key_is_an_error(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", 24.0)
        for staleness in (queue.queue_staleness, queue.application_staleness):
            with pytest.raises(UnknownKeyError) as raised:
                staleness("MSFT")
            assert raised.value.key == "MSFT"
            with pytest.raises(KeyNotHashableError):
                staleness(["IBM"])  # type: ignore[arg-type]

    def test_the_lower_bound_is_below_what_the_queue_reached(self, clock: ManualClock) -> None:
        # Memoryless arrivals of two keys at load 2 and a cost of 1, for 4,000 seconds.
        rates: dict[object, float] = {"A": 1.5, "B": 0.5}
        queue = self.make(clock=clock, rates=rates, processing_cost=1.0)
        assert queue.lower_bound() is None
        seeded = random.Random(1)
        now, done = 0.0, 1.0
        while now < 4_000.0:
            now += seeded.expovariate(2.0)
            while done < now:
                clock.set(done)
                queue.deliver_many(queue.dequeue_many(1))
                done += 1.0
            clock.set(now)
            queue.enqueue("A" if seeded.random() < 0.75 else "B", now)
        bound = queue.lower_bound()
        assert bound is not None
        assert 0.0 < bound <= queue.queue_staleness()

    # Statistics.

    def test_statistics_are_a_snapshot_that_cannot_be_changed(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", 24.0)
        before = queue.statistics()
        with pytest.raises(FrozenInstanceError):
            before.waiting = 0  # type: ignore[misc]
        next_of(queue)
        assert before.waiting == 1
        assert queue.statistics().waiting == 0

    @pytest.mark.parametrize("seed", range(8))
    def test_every_update_is_accounted_for_at_every_moment(self, seed: int) -> None:
        clock = ManualClock()
        queue = self.make(clock=clock, time_to_live=4.0, forget_after=20.0, in_process_limit=4)
        seeded = random.Random(seed)
        in_process: list[Update] = []
        previous = queue.statistics()
        for number in range(400):
            clock.advance(seeded.choice([0.0, 0.25, 1.0]))
            choice = seeded.random()
            if choice < 0.5:
                value = TOMBSTONE if seeded.random() < 0.1 else number
                queue.enqueue(seeded.randrange(6), value, seeded.randrange(number + 1))
            elif choice < 0.55:
                queue.enqueue_many([seeded.randrange(6) for _ in range(5)], list(range(5)))
            elif choice < 0.75:
                in_process += queue.dequeue_many(seeded.randrange(3))
            elif choice < 0.95 and in_process:
                update = in_process.pop(seeded.randrange(len(in_process)))
                self._finish(queue, update, gives_back=seeded.random() < 0.4)
            elif choice > 0.98 and len(queue):
                queue.forget(queue.snapshot()[0].key)
            statistics = queue.statistics()
            assert statistics.is_balanced
            assert statistics.waiting == len(queue)
            assert_no_counter_falls(previous, statistics)
            previous = statistics
            queue._check()

    def _finish(self, queue: StreamQueue, update: Update, *, gives_back: bool) -> None:
        try:
            if gives_back:
                queue.give_back(update)
            else:
                queue.deliver(update)
        except NotInProcessError:
            assert queue.statistics().taken_as_delivered


def assert_no_counter_falls(before: QueueStatistics, after: QueueStatistics) -> None:
    """Compare all counters but the levels, which rise and fall."""
    for name in QueueStatistics.__slots__:
        if name not in ("waiting", "in_process", "keys"):
            assert getattr(after, name) >= getattr(before, name), name
