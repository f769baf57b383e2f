"""A queue that holds keys back: it has updates that it does not serve yet, or never will."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from upstream import (
    TOMBSTONE,
    AdaptiveQueue,
    BytesCodec,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    OnDemandMemory,
    Outcome,
    PacedScheduler,
    PagePool,
    ParameterError,
    StalenessIndexScheduler,
    Stream,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
)

from .setting import next_of
from .window_kinds import Consumer, feed


def interval_of(key: str) -> float:
    """Return a second for keys in capitals, none for others, and never for those of two letters."""
    if len(key) > 1:
        return math.inf
    return 1.0 if key.isupper() else 0.0


def paced_queue(
    interval_of: Callable[[str], float] = interval_of, **options: object
) -> UpdateQueue:
    scheduler = PacedScheduler(StalenessIndexScheduler(), interval_of)
    return UpdateQueue(scheduler, **options)  # type: ignore[arg-type]


def pooled(clock: ManualClock) -> UpdateQueue:
    return paced_queue(clock=clock, memory=OnDemandMemory(PagePool(4096)), codec=BytesCodec())


@pytest.mark.parametrize("make", [lambda clock: paced_queue(clock=clock), pooled])
def test_a_held_update_waits_and_is_served_when_it_is_due(
    make: Callable[[ManualClock], UpdateQueue], clock: ManualClock
) -> None:
    queue = make(clock)
    for number in range(4):
        queue.enqueue("A", b"%d" % number)
        queue.enqueue("a", b"%d" % number)
        served = queue.dequeue_many(10)
        assert [update.key for update in served] == (["A", "a"] if number % 2 == 0 else ["a"])
        assert len(queue) == len(queue.snapshot()) == number % 2
        assert (queue.peek() is None) == (queue.dequeue() is None) is True
        queue.deliver_many(served)
        queue._check()
        clock.advance(0.5)
    held = queue.read("A")
    assert held is not None
    assert held.value == b"3"
    assert queue.peek() == next_of(queue) == held
    statistics = queue.statistics()
    assert (statistics.dequeued, statistics.superseded, statistics.waiting) == (7, 1, 0)


def test_a_held_update_is_stale_and_expires_like_other_waiting_updates(clock: ManualClock) -> None:
    queue = paced_queue(clock=clock, time_to_live=0.5)
    queue.enqueue("A", 1)
    queue.deliver(next_of(queue))
    queue.enqueue("A", 2)
    clock.advance(0.5)
    assert len(queue) == 0
    assert queue.statistics().expired == 1
    assert queue.queue_staleness("A") == pytest.approx(0.25)
    queue._check()


def test_a_queue_is_full_of_what_it_holds_back(clock: ManualClock) -> None:
    queue = paced_queue(clock=clock, capacity=2)
    assert queue.enqueue_many(["AA", "BB", "A"], [1, 2, 3]).rejected == 1
    assert queue.enqueue("C", 0) is Outcome.REJECTED
    assert queue.dequeue() is None


def test_held_updates_count_as_waiting_when_the_queue_is_detached(stream: Stream) -> None:
    queue = paced_queue()
    stream.attach(queue)
    stream.enqueue_many(["A", "AA"], [1, 2])
    next_of(queue)
    stream.enqueue("A", 3)
    final = stream.detach(queue)
    assert (final.waiting, final.in_process) == (2, 1)
    assert final.is_balanced
    stream._check()


def test_a_barred_key_is_not_taken_over_to_be_served() -> None:
    clock = ManualClock(5.0)
    stream = Stream(clock=clock)
    stream.enqueue_many(["AA", "a"], [1, 2])
    clock.advance(1.0)
    queue = paced_queue()
    stream.attach(queue, snapshot=True)
    assert queue.waiting_since() == 5.0
    assert [update.key for update in queue.dequeue_many(9)] == ["a"]
    assert queue.waiting_since() is None
    assert len(queue) == 1


def test_a_key_is_forgotten_by_age_though_it_waits_where_it_is_barred() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=10.0)
    queue = paced_queue()
    stream.attach(queue)
    stream.enqueue_many(["AA", "a"], [1, 2])
    clock.advance(10.0)
    assert len(stream) == 1
    assert queue.statistics().expired == 1
    assert next_of(queue).key == "a"
    queue._check()


@pytest.mark.parametrize("is_read", [False, True])
def test_a_deleted_key_is_forgotten_when_every_queue_that_serves_it_has_delivered_the_deletion(
    is_read: bool, stream: Stream
) -> None:
    reader, filtered = paced_queue(lambda _: 0.0), paced_queue()
    stream.attach(filtered)
    stream.attach(reader)
    key = "a" if is_read else "AA"
    stream.enqueue(key, 1)
    stream.enqueue(key, TOMBSTONE)
    reader.deliver(next_of(reader))
    assert len(stream) == is_read
    filtered.deliver_many(filtered.dequeue_many(9))
    assert len(stream) == 0
    filtered._check()


def test_a_key_that_finds_room_later_in_its_batch_has_its_limit(clock: ManualClock) -> None:
    memory = OnDemandMemory(PagePool(16, page_bytes=8, location_bytes=8))
    queue = paced_queue(clock=clock, memory=memory)
    rows = [("a", b"1" * 8), ("B", b"2" * 16), ("B", b"3")]
    batch = queue.enqueue_many(*map(list, zip(*rows, strict=True)))
    assert (batch.waiting, batch.rejected_rows) == (2, (1,))
    assert len(queue.dequeue_many(9)) == 2
    queue.enqueue("B", b"4")
    assert queue.dequeue() is None
    clock.advance(1.0)
    assert next_of(queue).value == b"4"


def test_an_invalid_interval_changes_nothing() -> None:
    queue = paced_queue({"a": 0.0, "b": -1.0}.__getitem__, clock=ManualClock())
    queue.enqueue("a", 1)
    before = queue.statistics()
    with pytest.raises(ParameterError, match="'b'"):
        queue.enqueue("b", 2)
    with pytest.raises(ParameterError, match="'b'"):
        queue.enqueue_many(["a", "b"], [3, 4])
    assert queue.statistics() == before
    queue._check()


def test_an_adaptive_queue_holds_nothing_back() -> None:
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(PacedScheduler(InPlaceScheduler(), interval_of))
    assert raised.value.name == "scheduler"


def test_windows_of_a_key_are_committed_at_its_pace(clock: ManualClock) -> None:
    #  time       0   1   2   3   4   5
    #  closes         0   1   2   3   4       windows of one second
    #  commits        0       2       4       each two seconds
    queue = WindowQueue(
        WindowSpecification(size=1, slide=1),
        LazyWindowBuffer,
        PacedScheduler(InPlaceScheduler(), lambda _: 2.0),
        clock=clock,
    )
    consumer = Consumer(queue)
    for time in range(6):
        feed(queue, "A", [float(time)], clock=clock)
        consumer.serve()
    assert [result.start for result in consumer.results] == [0.0, 2.0, 4.0]
    assert queue.statistics().windows.superseded == 2


def test_a_key_that_stands_back_since_its_window_is_not_complete_was_not_served() -> None:
    #  time       0    5    8    10
    #  tuples     A    A         A           windows of ten seconds, each five
    #  starts     0    1         2
    #  commits    0         -    2           three seconds apart at the least; at 8 it is IDLE
    clock = ManualClock()
    queue = WindowQueue(
        WindowSpecification(size=10, slide=5),
        EagerWindowBuffer,
        PacedScheduler(InPlaceScheduler(), lambda _: 3.0),
        clock=clock,
    )
    consumer = Consumer(queue)
    feed(queue, "A", [0.0], clock=clock)
    consumer.serve()
    feed(queue, "A", [5.0], clock=clock)
    clock.set(8.0)
    consumer.serve()
    assert (len(queue), queue.scheduler.waiting_since()) == (1, None), "it stands back"
    feed(queue, "A", [10.0], clock=clock)
    assert queue.statistics().windows.committed == 1
    consumer.serve()
    assert queue.statistics().windows.committed == 2


def test_a_window_queue_forgets_what_it_asked_about_keys_that_never_came_in(stream: Stream) -> None:
    scheduler = PacedScheduler(InPlaceScheduler(), interval_of)
    queue = WindowQueue(WindowSpecification(size=1, slide=1), LazyWindowBuffer, scheduler)
    stream.attach(queue)
    stream.enqueue("A", 1, time=1e300)
    assert queue.statistics().tuples.outside == 1
    assert len(queue._intake._terms) == 1
    stream.forget("A")
    assert not queue._intake._terms
    assert not queue._intake._places_by_cell
