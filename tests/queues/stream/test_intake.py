"""Which updates are taken in place; and `enqueue` of a stream and of its queues is one method."""

from __future__ import annotations

import inspect

import pytest

from upstream import (
    AppendQueue,
    FifoScheduler,
    InPlaceScheduler,
    ManualClock,
    OnDemandMemory,
    Outcome,
    PagePool,
    Stream,
    UpdateQueue,
)


def test_streams_and_update_queues_share_one_method_that_explains_itself() -> None:
    assert UpdateQueue.enqueue is Stream.enqueue
    assert UpdateQueue.enqueue_many is Stream.enqueue_many
    assert list(inspect.signature(UpdateQueue.enqueue).parameters) == [
        *("self", "key", "value", "time")
    ]
    assert "PagePoolFullError" in (UpdateQueue.enqueue.__doc__ or "")


def test_updates_are_taken_in_place_while_that_is_all_there_is_to_do(stream: Stream) -> None:
    intake = stream._intake
    assert not intake.is_by_reference, "without a queue, deletions have to be looked at"
    in_place = UpdateQueue(InPlaceScheduler())
    stream.attach(in_place)
    assert intake.is_by_reference
    for other in (
        AppendQueue(),
        UpdateQueue(FifoScheduler()),
        UpdateQueue(InPlaceScheduler(), time_to_live=1.0),
    ):
        stream.attach(other)
        assert not intake.is_by_reference
        stream.detach(other)
        assert intake.is_by_reference
    stream.close()
    assert not intake.is_by_reference


def test_values_in_a_pool_are_replaced_in_place_but_not_by_reference() -> None:
    pool = PagePool(64, page_bytes=32, location_bytes=32)
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock(), memory=OnDemandMemory(pool))
    intake = queue.stream._intake
    assert intake.in_place_before > 0
    assert not intake.is_by_reference
    assert queue.enqueue("A", b"1") is Outcome.WAITING
    assert queue.enqueue("A", b"2") is Outcome.SUPERSEDED
    update = queue.dequeue()
    assert update is not None
    assert update.value == b"2"


@pytest.mark.parametrize("attached", [False, True], ids=["own", "attached"])
def test_updates_enqueued_into_a_queue_are_counted_by_its_stream(attached: bool) -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    stream = queue.stream
    if attached:
        stream = Stream(clock=ManualClock())
        stream.attach(queue)
    queue.enqueue("A", 1, 5.0)
    queue.enqueue("A", 2, 4.0)
    queue.enqueue_many(["A", "B"], [3, 4], [6.0, 6.0])
    assert (stream.statistics().arrived, stream.statistics().late) == (4, 1)
