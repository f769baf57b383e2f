"""Keys are forgotten when they are deleted, or quiet, and no queue holds an update of them."""

from __future__ import annotations

from upstream import TOMBSTONE, AppendQueue, InPlaceScheduler, ManualClock, Stream, UpdateQueue


def test_a_quiet_key_is_forgotten_at_its_age_unless_a_queue_holds_it() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=5.0)
    queue = UpdateQueue(InPlaceScheduler())
    stream.enqueue("A", 1)
    stream.attach(queue)
    clock.advance(1.0)
    stream.enqueue("B", 1)
    clock.advance(4.0)
    assert list(stream) == ["B"], "A waits nowhere, and was quiet for five seconds"
    clock.advance(10.0)
    assert list(stream) == ["B"], "B waits"
    update = queue.dequeue()
    assert update is not None
    assert list(stream) == ["B"], "B is in process"
    queue.deliver(update)
    assert list(stream) == []
    stream._check()


def test_a_deleted_key_is_forgotten_once_every_queue_has_delivered_that(stream: Stream) -> None:
    queues = [UpdateQueue(InPlaceScheduler()), AppendQueue()]
    for queue in queues:
        stream.attach(queue)
    stream.enqueue("A", 1)
    stream.enqueue("A", TOMBSTONE)
    for queue in queues:
        assert "A" in stream
        queue.deliver_many(queue.dequeue_many(9))
    assert "A" not in stream
    stream._check()


def test_a_deletion_in_a_stream_without_queues_forgets_its_key_at_once(stream: Stream) -> None:
    stream.enqueue("A", 1)
    stream.enqueue("A", TOMBSTONE)
    assert len(stream) == 0


def test_a_stream_that_forgets_nothing_keeps_quiet_keys(clock: ManualClock, stream: Stream) -> None:
    stream.enqueue("A", 1)
    clock.advance(1e9)
    stream._feed.forgetting.if_quiet(next(iter(stream._feed.keys)), 1e9)
    assert list(stream) == ["A"]
