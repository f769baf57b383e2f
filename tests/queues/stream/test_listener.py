"""What a stream asks of its queues costs it nothing more than it must, and ends when they go."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable

import pytest

from tests.interrupted import Held, interrupt_everywhere
from upstream import (
    TOMBSTONE,
    AdaptiveQueue,
    AppendQueue,
    FifoScheduler,
    InPlaceScheduler,
    KeyNotHashableError,
    ManualClock,
    OnDemandMemory,
    PagePool,
    ParameterError,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    Update,
    UpdateQueue,
)
from upstream.keys import Place
from upstream.queues.stream.listener import oldest_to_take_over

KINDS: dict[str, Callable[[], StreamQueue]] = {
    "append": AppendQueue,
    "adaptive": AdaptiveQueue,
    "fifo": lambda: UpdateQueue(FifoScheduler(), time_to_live=9.0),
    "in-place": lambda: UpdateQueue(InPlaceScheduler()),
    "index": lambda: UpdateQueue(StalenessIndexScheduler(), capacity=5),
}


class Value:
    """Something that a weak reference can refer to."""


class ProbeScheduler(InPlaceScheduler):
    """Counts how many keys start to wait."""

    started = 0

    def schedule(self, place: Place) -> None:
        self.started += 1
        super().schedule(place)


@pytest.mark.parametrize("kind", KINDS)
def test_a_queue_that_is_detached_leaves_nothing_behind(kind: str) -> None:
    stream = Stream(clock=ManualClock(), retain=False)
    queue = KINDS[kind]()
    stream.attach(queue)
    values = [Value() for _ in range(10)]
    references = [weakref.ref(value) for value in values]
    for number in range(10):
        stream.enqueue(number % 5, values[number])
    for update in queue.dequeue_many(2):
        queue.deliver(update)
    del values, update
    held = queue.dequeue()
    assert held is not None
    held_value = weakref.ref(held.value)
    stream.detach(queue)
    del held
    gc.collect()
    assert held_value() is None
    assert [reference() for reference in references] == [None] * 10
    places = [each for each in gc.get_objects() if isinstance(each, Place)]
    assert not [place for place in places if any(place.cell is cell for cell in stream._feed.keys)]
    stream._check()


def test_the_log_is_cut_when_its_slowest_reader_goes(stream: Stream) -> None:
    slow, fast = AppendQueue(), AppendQueue()
    stream.attach(slow)
    stream.attach(fast)
    for number in range(100):
        stream.enqueue(number, number)
    assert len(fast) == 100
    log = stream._intake.log
    assert log is not None
    assert len(log) == 100
    stream.detach(slow)
    assert len(log) == 0
    stream.detach(fast)
    assert stream._intake.log is None


def test_all_pages_come_back_when_all_keys_are_drained() -> None:
    clock = ManualClock()
    pool = PagePool(4096, page_bytes=128, location_bytes=32)
    stream = Stream(clock=clock, retain=False, memory=OnDemandMemory(pool))
    queues = [KINDS[kind]() for kind in ("fifo", "in-place", "append", "in-place")]
    for queue in queues:
        stream.attach(queue)
    for number in range(60):
        stream.enqueue(number % 20, b"%d" % number * 20)
    assert pool.pages_in_use > 0
    for queue in queues[:2]:
        assert len(queue.dequeue_many(100)) == 20
    assert pool.pages_in_use > 0, "the last queue has not served its keys"
    stream.detach(queues[3])
    assert pool.pages_available == pool.page_count
    pool._check()


def test_queues_that_expire_leave_no_deadline_behind(clock: ManualClock, stream: Stream) -> None:
    queues = [UpdateQueue(InPlaceScheduler(), time_to_live=1.0 + n % 3) for n in range(50)]
    for queue in queues:
        stream.attach(queue)
    stream.enqueue("A", 1)
    stream.detach(queues[0])
    clock.advance(4.0)
    assert [queue.statistics().expired for queue in queues] == [0] + [1] * 49
    for queue in queues[1:]:
        stream.detach(queue)
    assert stream._feed.deadlines.is_idle
    stream._check()


def test_a_value_given_back_takes_room_again_and_frees_it_again() -> None:
    pool = PagePool(64, page_bytes=32, location_bytes=32)
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock(), memory=OnDemandMemory(pool))
    queue.enqueue("A", b"1")
    update = queue.dequeue()
    assert update is not None
    assert pool.pages_in_use == 0
    queue.give_back(update)
    assert pool.pages_in_use == 1
    queue.forget("A")
    assert pool.pages_in_use == 0


def test_an_update_of_a_key_that_waits_in_every_queue_visits_none(stream: Stream) -> None:
    probes = [ProbeScheduler() for _ in range(10)]
    queues = [UpdateQueue(probe) for probe in probes]
    for queue in queues:
        stream.attach(queue)
    for number in range(100):
        stream.enqueue("A", number)
    stream.enqueue_many(["A"] * 100, list(range(100)))
    assert [probe.started for probe in probes] == [1] * 10
    queues[3].dequeue()
    for number in range(100):
        stream.enqueue("A", number)
    assert [probe.started for probe in probes] == [1, 1, 1, 2, 1, 1, 1, 1, 1, 1]


def test_nothing_is_taken_over_unless_a_snapshot_is_asked_for() -> None:
    assert oldest_to_take_over(None, snapshot=False) is None
    assert oldest_to_take_over(None, snapshot=True) == -math.inf
    assert oldest_to_take_over(3, snapshot=True) == 3.0
    for since, snapshot in ((3.0, False), (math.nan, True), ("now", True)):
        with pytest.raises(ParameterError, match="since"):
            oldest_to_take_over(since, snapshot=snapshot)


def test_fifo_serves_keys_that_were_taken_over_and_given_back_by_their_arrivals() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    for key in "AB":
        stream.enqueue(key, key)
        clock.advance(0.25)
    queue = UpdateQueue(FifoScheduler())
    stream.attach(queue, snapshot=True)
    first, second = queue.dequeue_many(2)
    queue.give_back(second)
    queue.give_back(first)
    assert queue.snapshot() == [first, second]
    assert queue.peek() == first
    queue._check()


def interrupted(
    make: Callable[[], StreamQueue],
    act: Callable[[Stream, StreamQueue], object],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_attached: bool,
) -> int:
    """Check that a queue was attached or not at all, wherever an action is interrupted."""
    monkeypatch.setattr("upstream.queues.stream.stream.HeldInterrupt", Held)

    def prepared() -> tuple[Stream, StreamQueue]:
        stream, queue = Stream(clock=ManualClock()), make()
        stream.attach(make())
        stream.enqueue_many(["IBM", "MSFT"], [24.0, 410.0])
        if is_attached:
            stream.attach(queue, snapshot=True)
        return stream, queue

    def check(subject: tuple[Stream, StreamQueue]) -> None:
        stream, queue = subject
        stream._check()
        if stream.statistics().queues == 1:
            if is_attached:
                return
            stream.attach(queue, snapshot=True)
        stream.enqueue("GM", 41.5)
        queue._check()
        assert stream.statistics().queues == 2
        assert {update.key for update in queue.dequeue_many(5)} >= {"IBM", "MSFT", "GM"}

    return interrupt_everywhere(prepared, lambda subject: act(*subject), check, event="line")


@pytest.mark.parametrize("kind", KINDS)
def test_a_queue_is_attached_completely_or_not_at_all(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attach(stream: Stream, queue: StreamQueue) -> None:
        stream.attach(queue, snapshot=True, deletions=[Update("SUN", TOMBSTONE, 0.0)])

    assert interrupted(KINDS[kind], attach, monkeypatch, is_attached=False) > 20


@pytest.mark.parametrize("kind", KINDS)
def test_a_queue_is_detached_completely_or_not_at_all(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert interrupted(KINDS[kind], Stream.detach, monkeypatch, is_attached=True) > 5


def test_a_deletion_without_a_valid_key_leaves_the_queue_unattached() -> None:
    stream, queue = Stream(clock=ManualClock()), AppendQueue()
    with pytest.raises(KeyNotHashableError):
        stream.attach(queue, deletions=[Update([], TOMBSTONE, 0.0)])  # type: ignore[arg-type]
    stream.attach(queue)
    assert stream.statistics().queues == 1
