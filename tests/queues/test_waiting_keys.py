"""How keys start to wait in an update queue, and what is counted then."""

from __future__ import annotations

from upstream import InPlaceScheduler, ManualClock, Stream, UpdateQueue
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


def test_what_finds_no_room_is_counted() -> None:
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
