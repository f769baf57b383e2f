"""How keys start to wait in an update queue, and what is counted then."""

from __future__ import annotations

import pytest

from upstream import TOMBSTONE, InPlaceScheduler, ManualClock, Stream, Update, UpdateQueue
from upstream.queues.waiting_keys import WaitingKeys


def waiting_in(queue: UpdateQueue) -> WaitingKeys:
    assert isinstance(queue._waiting, WaitingKeys)
    return queue._waiting


def make(capacity: int | None, keys: str) -> tuple[UpdateQueue, Stream]:
    """Return a queue in which none of `keys` waits, and its stream, which knows them."""
    stream = Stream(clock=ManualClock())
    queue = UpdateQueue(InPlaceScheduler(), capacity=capacity)
    for key in keys:
        stream.enqueue(key, 0)
    stream.attach(queue)
    return queue, stream


def test_keys_wait_in_the_order_of_the_scheduler() -> None:
    queue, stream = make(None, "AB")
    places = [queue._places.find(cell) for cell in stream._feed.keys]
    for now, place in enumerate(places):
        assert place is not None
        assert place.cell.idle_places() == [place]
        assert waiting_in(queue).start_to_wait(place, 1, float(now))
        assert place.waiting_since == place.stale_since == float(now)
    assert list(queue.scheduler) == places
    assert not waiting_in(queue).is_full


def test_updates_without_room_are_counted_as_rejected() -> None:
    queue, stream = make(1, "AB")
    first, second = (queue._places.find(cell) for cell in stream._feed.keys)
    assert first is not None
    assert second is not None
    waiting = waiting_in(queue)
    assert waiting.start_to_wait(first, 1, 0.0)
    assert waiting.is_full
    assert not waiting.start_to_wait(second, 1, 0.0, rows=3)
    waiting.refuse(2)
    assert waiting.counts_so_far().rejected == 5
    assert list(queue.scheduler) == [first]
    assert second.waiting_since is None


@pytest.mark.parametrize("deletions", [False, True], ids=["values", "deletions"])
def test_an_update_from_a_snapshot_expires_by_its_own_age(deletions: bool) -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    stream.attach(UpdateQueue(InPlaceScheduler()))
    stream.enqueue("A", TOMBSTONE if deletions else 1, 0.0)
    clock.advance(2.0)
    queue = UpdateQueue(InPlaceScheduler(), time_to_live=5.0)
    stream.attach(
        queue,
        snapshot=not deletions,
        deletions=[Update("A", TOMBSTONE, 0.0)] if deletions else [],
    )
    clock.advance(2.9)
    assert len(queue) == 1
    clock.advance(0.1)
    assert len(queue) == 0
    assert queue.statistics().expired == 1


def test_a_key_whose_value_was_not_retained_is_not_taken_over_as_deleted() -> None:
    stream = Stream(clock=ManualClock(), retain=False)
    first = UpdateQueue(InPlaceScheduler())
    stream.attach(first)
    stream.enqueue("A", 1, 5.0)
    first.dequeue()
    late = UpdateQueue(InPlaceScheduler())
    stream.attach(late, deletions=[Update("A", TOMBSTONE, 3.0)])
    assert late.dequeue() is None
