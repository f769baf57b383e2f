"""How every kind of queue lives with its stream; a part of the contract."""

from __future__ import annotations

import math

import pytest

from upstream import (
    TOMBSTONE,
    AlreadyAttachedError,
    BytesCodec,
    ClosedError,
    ManualClock,
    OnDemandMemory,
    Outcome,
    PagePool,
    PagePoolFullError,
    ParameterError,
    Stream,
    StreamQueue,
    Update,
)

from .setting import USES, QueueSetting, next_of, values_of


class DecodingError(Exception):
    """The exception of a user's codec."""


class FailingCodec(BytesCodec):
    """Cannot decode while it `fails`."""

    fails = False

    def decode(self, data: bytes) -> object:
        if self.fails:
            raise DecodingError
        return data


class StreamContract(QueueSetting):
    """A queue has a stream of its own until it is attached to one, and none once it is closed."""

    def attach_with_another(self, stream: Stream, queue: StreamQueue) -> StreamQueue:
        """Attach `queue` and then another queue, and return the other one."""
        other = self.make()
        stream.attach(queue)
        stream.attach(other)
        return other

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
        self, queue: StreamQueue, stream: Stream
    ) -> None:
        other = self.attach_with_another(stream, queue)
        assert queue.is_attached
        assert queue.stream is stream
        stream.enqueue("IBM", 24.0)
        queue.enqueue("MSFT", 50.0)
        assert {update.key for update in queue.dequeue_many(9)} == {"IBM", "MSFT"}
        assert {update.key for update in other.dequeue_many(9)} == {"IBM", "MSFT"}
        assert stream.detach(queue).dequeued == 2
        assert stream.statistics().queues == 1

    def test_a_late_queue_starts_from_the_newest_values_if_asked_to(self, stream: Stream) -> None:
        stream.enqueue_many(["A", "B", "A"], [1, 2, 3])
        empty, full = self.make(), self.make()
        stream.attach(empty)
        stream.attach(full, snapshot=True)
        assert len(empty) == 0
        assert sorted(map(str, values_of(full.dequeue_many(9)))) == ["2", "3"]
        assert full.statistics().arrived == 2
        assert full.statistics().is_balanced

    def test_a_late_queue_may_start_from_what_arrived_since_some_moment(
        self, clock: ManualClock, stream: Stream
    ) -> None:
        #  time  5    6    7    8    9
        #        A    B    C    A    attached
        for moment, key in enumerate("ABCA", 5):
            clock.set(moment)
            stream.enqueue(key, moment)
        clock.set(9.0)
        for since, expected in ((6.0, [6, 7, 8]), (6.5, [7, 8]), (8, [8]), (8.5, [])):
            queue = self.make()
            stream.attach(queue, snapshot=True, since=since)
            assert sorted(map(str, values_of(queue.snapshot()))) == list(map(str, expected))
            assert queue.waiting_since() == min(expected, default=None)
            assert queue.statistics().arrived == len(expected)
            queue._check()
            clock.advance(1.0)
            stream.enqueue("D", TOMBSTONE)  # of which nothing is left for the next round
            assert len(queue) == len(expected) + 1, "what arrives later is heard of"
            stream.detach(queue)

    @pytest.mark.parametrize(
        ("since", "snapshot"), [(0.0, False), (math.nan, True), ("now", True), (1j, True)]
    )
    def test_a_moment_to_start_from_is_a_time_and_given_with_a_snapshot(
        self, queue: StreamQueue, since: float, snapshot: bool, stream: Stream
    ) -> None:
        stream.enqueue("A", 1)
        with pytest.raises(ParameterError) as raised:
            stream.attach(queue, snapshot=snapshot, since=since)
        assert raised.value.name == "since"
        assert stream.statistics().queues == 0
        stream.attach(queue)

    def test_a_queue_can_be_attached_once_and_unused_only(
        self, queue: StreamQueue, clock: ManualClock, stream: Stream
    ) -> None:
        stream.attach(queue)
        used = self.make(clock=clock)
        used.enqueue("IBM", 24.0)
        for bad in (queue, used):
            before = bad.statistics()
            for place in (stream, Stream(clock=clock)):
                with pytest.raises(AlreadyAttachedError):
                    place.attach(bad)
            assert bad.statistics() == before
        assert stream.statistics().queues == 1
        assert values_of(used.dequeue_many(2)) == [24.0]

    @pytest.mark.parametrize("is_attached", [False, True])
    def test_a_closed_queue_cannot_be_attached(
        self, queue: StreamQueue, clock: ManualClock, is_attached: bool, stream: Stream
    ) -> None:
        if is_attached:
            stream.attach(queue)
        final = queue.close()
        for place in (stream, Stream(clock=clock)):
            with pytest.raises(ClosedError, match="queue is closed"):
                place.attach(queue)
            assert place.statistics().queues == 0
        assert queue.statistics() == final

    def test_another_queue_cannot_be_attached_to_a_queues_own_stream(
        self, queue: StreamQueue
    ) -> None:
        other = self.make()
        with pytest.raises(AlreadyAttachedError, match="belongs to a queue"):
            queue.stream.attach(other)
        for each in (queue, other):
            assert each.enqueue("IBM", 24.0) is Outcome.WAITING
            assert not each.is_attached

    def test_staleness_is_of_now_though_nothing_was_looked_at(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        stream = Stream(clock=clock, rates={"IBM": 0.1})
        stream.attach(queue)
        stream.enqueue("IBM", 24.0)
        clock.advance(10.0)
        assert queue.staleness_by_key() == {"IBM": pytest.approx(5.0)}
        stream.enqueue("MSFT", 50.0)
        assert queue.application_staleness("MSFT") == 0.0
        clock.advance(10.0)
        assert queue.queue_staleness("MSFT") == pytest.approx(5.0)

    def test_a_wait_does_not_begin_before_the_queue_knows_the_key(
        self, queue: StreamQueue, clock: ManualClock, stream: Stream
    ) -> None:
        stream.enqueue("IBM", 24.0)
        clock.advance(100.0)
        stream.attach(queue, snapshot=True)
        queue.give_back(next_of(queue))
        clock.advance(2.0)
        assert queue.queue_staleness("IBM") == pytest.approx(1.0)
        assert queue.application_staleness("IBM") == pytest.approx(1.0)
        queue.give_back(next_of(queue))
        assert queue.queue_staleness("IBM") == pytest.approx(1.0)
        queue._check()

    def test_an_update_without_room_in_the_pool_is_counted_in_every_queue(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        stream = Stream(
            clock=clock, memory=OnDemandMemory(PagePool(8, location_bytes=8, page_bytes=8))
        )
        stream.attach(queue)
        stream.enqueue("IBM", b"24")
        with pytest.raises(PagePoolFullError):
            stream.enqueue("MSFT", b"50")
        assert stream.enqueue_many(["SAP"], [b"9"]).rejected == 1
        counters = queue.statistics()
        assert (counters.arrived, counters.rejected, counters.waiting) == (3, 2, 1)
        assert counters.is_balanced

    def test_a_value_that_cannot_be_decoded_is_not_lost(
        self, queue: StreamQueue, clock: ManualClock
    ) -> None:
        codec = FailingCodec()
        stream = Stream(clock=clock, memory=OnDemandMemory(PagePool(4096)), codec=codec)
        stream.enqueue("IBM", b"24")
        codec.fails = True
        with pytest.raises(DecodingError):
            stream.attach(queue, snapshot=True)
        assert stream.statistics().queues == 0
        codec.fails = False
        stream.attach(queue, snapshot=True)
        assert next_of(queue).value == b"24"

    def test_a_queue_cannot_be_attached_to_the_stream_of_its_own(self, queue: StreamQueue) -> None:
        with pytest.raises(AlreadyAttachedError):
            queue.stream.attach(queue)
        assert queue.enqueue("IBM", 24.0) is Outcome.WAITING

    def test_a_key_deleted_in_one_queue_stays_until_the_others_have_delivered_it(
        self, queue: StreamQueue, stream: Stream
    ) -> None:
        slow = self.attach_with_another(stream, queue)
        stream.enqueue("IBM", TOMBSTONE)
        queue.deliver(next_of(queue))
        assert len(stream) == 1
        assert (queue.statistics().keys, slow.statistics().keys) == (0, 1)
        slow.deliver(next_of(slow))
        assert len(stream) == 0
        for each in (queue, slow):
            assert each.statistics().forgotten == 1
            each._check()

    def test_a_late_queue_may_be_told_of_deletions_that_the_others_know(
        self, queue: StreamQueue, stream: Stream
    ) -> None:
        other = self.make()
        stream.attach(other)
        deletions = [Update(key, TOMBSTONE, 3.0) for key in ("gone", "going", "back")]
        stream.enqueue("going", TOMBSTONE, time=3.0)
        stream.enqueue("back", 24.0, time=4.0)
        stream.attach(queue, snapshot=True, deletions=deletions)
        expected = {"gone": TOMBSTONE, "going": TOMBSTONE, "back": 24.0}
        updates = queue.dequeue_many(9)
        assert {update.key: update.value for update in updates} == expected
        told = other.dequeue_many(9)
        assert {update.key for update in told} == {"going", "back"}
        other.deliver_many(told)
        assert "gone" in stream
        queue.deliver_many(updates)
        assert list(stream) == ["back"]
        for each in (queue, other):
            assert each.statistics().is_balanced
            each._check()
        stream._check()

    @pytest.mark.parametrize("method", ["deliver", "give_back"])
    @pytest.mark.parametrize("retain", [False, True])
    def test_an_update_older_than_a_deletion_that_all_queues_delivered_does_not_restore_the_key(
        self, queue: StreamQueue, clock: ManualClock, method: str, retain: bool
    ) -> None:
        stream = Stream(clock=clock, retain=retain)
        other = self.attach_with_another(stream, queue)
        stream.enqueue("IBM", 24.0, time=0)
        older = next_of(queue)
        stream.enqueue("IBM", TOMBSTONE, time=1)
        for each in (other, queue):
            each.deliver_many(each.dequeue_many(9))
        USES[method](queue, older)
        queue.deliver_many(queue.dequeue_many(9))
        assert len(stream) == 0
        for each in (queue, other):
            assert each.statistics().is_balanced
            assert (each.statistics().keys, each.statistics().forgotten) == (0, 1)
            each._check()

    @pytest.mark.parametrize("retain", [False, True])
    @pytest.mark.parametrize("is_in_process", [False, True])
    def test_a_deleted_key_goes_when_the_last_queue_that_held_it_is_detached(
        self, queue: StreamQueue, clock: ManualClock, retain: bool, is_in_process: bool
    ) -> None:
        stream = Stream(clock=clock, retain=retain)
        slow = self.attach_with_another(stream, queue)
        stream.enqueue("IBM", TOMBSTONE)
        queue.deliver(next_of(queue))
        if is_in_process:
            next_of(slow)
        final = stream.detach(slow)
        assert (final.waiting, final.in_process) == (not is_in_process, is_in_process)
        assert final.is_balanced
        assert len(stream) == 0
        assert stream.enqueue("IBM", 24.0, time=-1.0) is Outcome.WAITING
        assert next_of(queue).value == 24.0
        queue._check()

    def test_a_deleted_key_stays_when_a_queue_is_detached_and_another_still_holds_it(
        self, queue: StreamQueue, stream: Stream
    ) -> None:
        slow = self.attach_with_another(stream, queue)
        stream.enqueue("IBM", TOMBSTONE)
        stream.detach(slow)
        assert len(stream) == 1
        queue.deliver(next_of(queue))
        assert len(stream) == 0

    def test_values_in_a_pool_outlive_the_shorter_of_two_times_to_live(
        self, clock: ManualClock
    ) -> None:
        #  time         0    2    3    4    5    6    7    8
        #  A, B arrive  A         B
        #  in short     A----|    B---------|
        #  in long      A-------------------|
        #                         B--------------|    B---|    taken at 6, given back at 7
        stream = Stream(clock=clock, retain=False, memory=OnDemandMemory(PagePool(4096)))
        short, long = self.make(time_to_live=2.0), self.make(time_to_live=5.0)
        stream.attach(short)
        stream.attach(long)
        stream.enqueue("A", b"a", time=0)
        clock.set(2.0)
        assert values_of(short.snapshot()) == []
        assert values_of(long.snapshot()) == [b"a"]
        clock.set(3.0)
        stream.enqueue("B", b"b", time=3)
        assert values_of(short.snapshot()) == [b"b"]
        clock.set(5.0)
        assert values_of(short.snapshot()) == []
        assert values_of(long.snapshot()) == [b"b"]
        clock.set(6.0)
        taken = next_of(long)
        assert taken.value == b"b"
        assert pool_usage(stream) == 0
        clock.set(7.0)
        long.give_back(taken)
        assert long.peek() == taken
        clock.set(8.0)
        assert values_of(long.snapshot()) == []
        assert pool_usage(stream) == 0
        for each in (short, long):
            statistics = each.statistics()
            assert (statistics.arrived, statistics.expired) == (2, 2)
            assert statistics.is_balanced
            each._check()


def pool_usage(stream: Stream) -> int:
    usage = stream.memory_usage()
    assert usage is not None
    return usage.locations_held
