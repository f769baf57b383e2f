"""How every kind of queue lives with its stream; a part of the contract."""

from __future__ import annotations

import pytest

from upstream import (
    TOMBSTONE,
    AlreadyAttachedError,
    ClosedError,
    ManualClock,
    Outcome,
    Stream,
    StreamQueue,
)

from .setting import USES, QueueSetting, next_of, values_of


class StreamContract(QueueSetting):
    """A queue has a stream of its own until it is attached to one, and none once it is closed."""

    @pytest.mark.parametrize("use", USES)
    @pytest.mark.parametrize("is_attached", [False, True])
    def test_a_closed_queue_cannot_be_used(
        self, queue: StreamQueue, clock: ManualClock, use: str, is_attached: bool
    ) -> None:
        if is_attached:
            Stream(clock=clock).attach(queue)
        queue.enqueue_many(["IBM", "MSFT"], [24.0, 50.0])
        update = next_of(queue)
        final = queue.stream.detach(queue) if is_attached else queue.close()
        with pytest.raises(ClosedError, match="queue is closed"):
            USES[use](queue, update)
        assert queue.statistics() == queue.close() == final

    def test_a_closed_queue_still_tells_how_it_ended(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        queue.enqueue("IBM", 24.0)
        clock.advance(4.0)
        final = queue.close()
        clock.advance(100.0)
        assert (final.arrived, final.waiting) == (1, 1)
        assert final.is_balanced
        assert queue.statistics() is final
        assert queue.queue_staleness() == queue.application_staleness() == pytest.approx(2.0)

    def test_a_queue_is_fed_by_the_stream_that_it_is_attached_to(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        stream = Stream(clock=clock)
        other = self.make(clock=clock)
        stream.attach(queue)
        stream.attach(other)
        assert queue.is_attached
        assert queue.stream is stream
        stream.enqueue("IBM", 24.0)
        queue.enqueue("MSFT", 50.0)
        assert {update.key for update in queue.dequeue_many(9)} == {"IBM", "MSFT"}
        assert {update.key for update in other.dequeue_many(9)} == {"IBM", "MSFT"}
        assert stream.detach(queue).dequeued == 2
        assert stream.statistics().queues == 1

    def test_a_late_queue_starts_from_the_newest_values_if_asked_to(
        self, clock: ManualClock
    ) -> None:
        stream = Stream(clock=clock)
        stream.enqueue_many(["A", "B", "A"], [1, 2, 3])
        empty, full = self.make(), self.make()
        stream.attach(empty)
        stream.attach(full, snapshot=True)
        assert len(empty) == 0
        assert sorted(map(str, values_of(full.dequeue_many(9)))) == ["2", "3"]
        assert full.statistics().arrived == 2
        assert full.statistics().is_balanced

    def test_a_queue_can_be_attached_once_and_unused_only(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        stream = Stream(clock=clock)
        stream.attach(queue)
        used, closed = self.make(clock=clock), self.make(clock=clock)
        used.enqueue("IBM", 24.0)
        closed.close()
        for bad in (queue, used, closed):
            before = bad.statistics()
            for place in (stream, Stream(clock=clock)):
                with pytest.raises(AlreadyAttachedError):
                    place.attach(bad)
            assert bad.statistics() == before
        assert stream.statistics().queues == 1
        assert values_of(used.dequeue_many(2)) == [24.0]

    def test_a_queue_cannot_be_attached_to_the_stream_of_its_own(self, queue: StreamQueue) -> None:
        with pytest.raises(AlreadyAttachedError):
            queue.stream.attach(queue)
        assert queue.enqueue("IBM", 24.0) is Outcome.WAITING

    def test_a_key_deleted_in_one_queue_stays_until_the_others_have_delivered_it(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        stream = Stream(clock=clock)
        slow = self.make()
        stream.attach(queue)
        stream.attach(slow)
        stream.enqueue("IBM", TOMBSTONE)
        queue.deliver(next_of(queue))
        assert len(stream) == 1
        assert (queue.statistics().keys, slow.statistics().keys) == (0, 1)
        slow.deliver(next_of(slow))
        assert len(stream) == 0
        for each in (queue, slow):
            assert each.statistics().forgotten == 1
            each._check()

    def test_a_deleted_key_goes_when_the_last_queue_that_held_it_is_detached(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        stream = Stream(clock=clock)
        slow = self.make()
        stream.attach(queue)
        stream.attach(slow)
        stream.enqueue("IBM", TOMBSTONE)
        queue.deliver(next_of(queue))
        stream.detach(slow)
        assert len(stream) == 0
