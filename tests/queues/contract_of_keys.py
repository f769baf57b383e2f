"""How keys go in every kind of queue: deletion, forgetting, expiry; a part of the contract."""

from __future__ import annotations

import pytest

from upstream import (
    TOMBSTONE,
    KeyNotHashableError,
    ManualClock,
    Outcome,
    StreamQueue,
    UnknownKeyError,
)

from .setting import USES, QueueSetting, copy_of, next_of, values_of


class KeyContract(QueueSetting):
    """A key goes when its deletion is delivered, when it is forgotten, and when it is idle."""

    def test_a_deletion_is_delivered_and_then_forgets_the_key(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", 24.0)
        queue.deliver(next_of(queue))
        queue.enqueue("IBM", TOMBSTONE)
        deletion = next_of(queue)
        assert deletion.value is TOMBSTONE
        assert queue.statistics().keys == 1
        queue.deliver(deletion)
        statistics = queue.statistics()
        assert (statistics.keys, statistics.forgotten) == (0, 1)
        assert len(queue.stream) == 0
        queue._check()

    def test_a_key_that_updates_before_its_deletion_is_delivered_is_not_forgotten(
        self, queue: StreamQueue
    ) -> None:
        queue.enqueue("IBM", TOMBSTONE)
        deletion = next_of(queue)
        queue.enqueue("IBM", 25.0)
        queue.deliver(deletion)
        statistics = queue.statistics()
        assert (statistics.keys, statistics.forgotten) == (1, 0)
        assert next_of(queue).value == 25.0
        queue._check()

    def test_a_deletion_that_is_given_back_is_delivered_later(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", TOMBSTONE)
        queue.give_back(next_of(queue))
        assert queue.statistics().keys == 1
        queue.deliver(next_of(queue))
        assert queue.statistics().keys == 0
        queue._check()

    def test_a_deleted_key_can_come_again(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", TOMBSTONE)
        queue.deliver(next_of(queue))
        assert queue.enqueue("IBM", 24.0) is Outcome.WAITING
        assert next_of(queue).value == 24.0
        assert queue.statistics().keys == 1
        queue._check()

    @pytest.mark.parametrize("method", ["deliver", "give_back"])
    @pytest.mark.parametrize("as_copy", [False, True])
    def test_an_update_older_than_a_delivered_deletion_does_not_restore_the_key(
        self, queue: StreamQueue, method: str, as_copy: bool
    ) -> None:
        queue.enqueue("IBM", 24.0, time=0)
        older = next_of(queue)
        queue.enqueue("IBM", TOMBSTONE, time=1)
        queue.deliver(next_of(queue))
        assert queue.statistics().is_balanced
        USES[method](queue, copy_of(older) if as_copy else older)
        queue._check()
        queue.deliver_many(queue.dequeue_many(9))  # an append queue serves every update
        queue._check()
        statistics = queue.statistics()
        assert (statistics.keys, statistics.forgotten) == (0, 1)
        assert (statistics.waiting, statistics.in_process) == (0, 0)
        assert statistics.returned == (method == "give_back")
        assert len(queue.stream) == 0
        assert queue.stream.read("IBM") is None

    @pytest.mark.parametrize("method", ["deliver", "give_back"])
    def test_a_key_deleted_with_several_older_updates_in_process_goes_with_the_last_of_them(
        self, queue: StreamQueue, method: str
    ) -> None:
        older = []
        for number in range(3):
            queue.enqueue("IBM", number, time=number)
            older.append(next_of(queue))
        queue.enqueue("IBM", TOMBSTONE, time=3)
        queue.deliver(next_of(queue))
        for update in (older[1], older[2], older[0]):
            USES[method](queue, update)
            assert queue.statistics().is_balanced
        queue.deliver_many(queue.dequeue_many(9))
        assert len(queue.stream) == 0
        assert queue.enqueue("IBM", 24.0, time=0) is Outcome.WAITING, "nothing is known of it"
        assert queue.statistics().keys == 1
        queue._check()

    def test_delivering_an_update_older_than_a_deletion_does_not_make_a_new_key_fresher(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        queue.enqueue("IBM", 24.0)
        older = next_of(queue)
        queue.enqueue("IBM", TOMBSTONE)
        queue.deliver(next_of(queue))
        queue.enqueue("IBM", 25.0)
        clock.advance(1.0)
        queue.deliver(older)
        clock.advance(1.0)
        # Its second life began at 0, and 25.0 has not been delivered since.
        assert queue.application_staleness("IBM") * 2.0 == pytest.approx(2.0)
        assert queue.statistics().keys == 1

    def test_forgetting_counts_what_waits_as_expired(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        queue.enqueue("IBM", 24.0)
        queue.enqueue("MSFT", 50.0)
        clock.advance(4.0)
        queue.forget("IBM")
        statistics = queue.statistics()
        assert (statistics.expired, statistics.forgotten, statistics.keys) == (1, 1, 1)
        assert queue.read("IBM") is None
        assert values_of(queue.dequeue_many(10)) == [50.0]
        assert queue.queue_staleness() == pytest.approx(2.0), "its average goes on counting"
        queue._check()

    @pytest.mark.parametrize("method", ["deliver", "give_back"])
    def test_a_key_can_be_forgotten_while_it_is_in_process(
        self, queue: StreamQueue, method: str
    ) -> None:
        queue.enqueue("IBM", 24.0, time=0)
        update = next_of(queue)
        queue.forget("IBM")
        queue.enqueue("IBM", 25.0, time=1)
        USES[method](queue, update)
        assert queue.statistics().is_balanced
        assert values_of(queue.dequeue_many(10)) == [25.0]
        queue._check()

    def test_an_unknown_key_cannot_be_forgotten(self, queue: StreamQueue) -> None:
        queue.enqueue("IBM", 24.0)
        with pytest.raises(UnknownKeyError) as raised:
            queue.forget("MSFT")
        assert raised.value.key == "MSFT"
        queue.forget("IBM")
        with pytest.raises(UnknownKeyError):
            queue.forget("IBM")
        with pytest.raises(KeyNotHashableError):
            queue.forget(["IBM"])  # type: ignore[arg-type]

    def test_an_idle_key_is_forgotten_after_a_while(self, clock: ManualClock) -> None:
        queue = self.make(clock=clock, forget_after=10.0)
        queue.enqueue("IBM", 24.0)
        queue.enqueue("MSFT", 50.0)
        updates = queue.dequeue_many(2)
        queue.deliver(updates[0])
        clock.advance(9.5)
        assert queue.statistics().keys == 2
        clock.advance(0.5)
        assert queue.statistics().keys == 1, "what is in process is not idle"
        queue.deliver(updates[1])
        assert queue.statistics().keys == 0
        queue._check()

    def test_a_waiting_update_expires(self, clock: ManualClock) -> None:
        queue = self.make(clock=clock, time_to_live=5.0)
        queue.enqueue("IBM", 24.0)
        clock.advance(3.0)
        queue.enqueue("MSFT", 50.0)
        clock.advance(1.5)
        assert len(queue) == 2
        clock.advance(0.5)
        assert len(queue) == 1
        assert queue.read("IBM") is None
        assert queue.statistics().expired == 1
        assert values_of(queue.dequeue_many(10)) == [50.0]
        clock.advance(100.0)
        assert queue.queue_staleness("IBM") == pytest.approx(12.5 / 105.0)
        queue._check()

    def test_an_update_in_process_does_not_expire_but_cannot_wait_again(
        self, clock: ManualClock
    ) -> None:
        queue = self.make(clock=clock, time_to_live=5.0)
        queue.enqueue_many(["A", "B"], [1, 2])
        first, second = queue.dequeue_many(2)
        clock.advance(6.0)
        queue.deliver(first)
        queue.give_back(second)
        statistics = queue.statistics()
        assert (statistics.delivered, statistics.returned, statistics.expired) == (1, 1, 1)
        assert statistics.is_balanced
        assert len(queue) == 0
        queue._check()
