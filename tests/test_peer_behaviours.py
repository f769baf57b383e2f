"""What peers of update queues are known to do, and keys by the million that are all kept."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from upstream import (
    TOMBSTONE,
    AppendQueue,
    FifoScheduler,
    InPlaceScheduler,
    LinecuttingScheduler,
    ManualClock,
    Outcome,
    Scheduler,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    Update,
    UpdateQueue,
)


def update_queue(scheduler: Scheduler, **options: int) -> UpdateQueue:
    return UpdateQueue(scheduler, clock=ManualClock(), capacity=options.get("capacity"))


def served(queue: StreamQueue) -> list[tuple[object, object]]:
    return [(update.key, update.value) for update in queue.dequeue_many(100)]


# The traces.


SIX_ARRIVALS = [("A", 1), ("B", 2), ("A", 3), ("C", 4), ("B", 5), ("A", 6)]
IN_PLACE = [("A", 6), ("B", 5), ("C", 4)]
AT_THE_TAIL = [("C", 4), ("B", 5), ("A", 6)]


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        (FifoScheduler, AT_THE_TAIL),
        (InPlaceScheduler, IN_PLACE),
        (LinecuttingScheduler, IN_PLACE),  # while it knows nothing about the keys
        (StalenessIndexScheduler, IN_PLACE),  # likewise
    ],
)
def test_a_newer_update_keeps_the_place_of_its_key_except_under_fifo(
    scheduler: type[Scheduler], expected: list[tuple[str, int]]
) -> None:
    queue = update_queue(scheduler())
    for key, value in SIX_ARRIVALS:
        queue.enqueue(key, value)
    assert served(queue) == expected


@pytest.mark.parametrize(
    ("scheduler", "expected"), [(FifoScheduler, AT_THE_TAIL), (InPlaceScheduler, IN_PLACE)]
)
def test_a_batch_is_served_in_the_same_order_as_its_rows(
    scheduler: type[Scheduler], expected: list[tuple[str, int]]
) -> None:
    keys, values = (list(column) for column in zip(*SIX_ARRIVALS, strict=True))
    for column in (keys, np.array(keys), pa.array(keys), pa.array(keys).dictionary_encode()):
        batch = update_queue(scheduler())
        batch.enqueue_many(column, values)
        assert served(batch) == expected


def test_an_update_during_processing_waits_again_and_a_returned_older_one_never_beats_it() -> None:
    queue = update_queue(InPlaceScheduler())
    queue.enqueue("VOD", 1, time=1)
    in_process = queue.dequeue()
    assert in_process is not None
    assert queue.enqueue("VOD", 2, time=2) is Outcome.WAITING
    queue.give_back(in_process)
    assert served(queue) == [("VOD", 2)]
    assert queue.statistics().superseded == 1


def test_with_a_capacity_of_two_a_third_key_is_rejected_and_the_known_ones_still_update() -> None:
    queue = update_queue(InPlaceScheduler(), capacity=2)
    outcomes = [queue.enqueue(key, value) for key, value in SIX_ARRIVALS]
    assert outcomes[3] is Outcome.REJECTED
    assert outcomes.count(Outcome.REJECTED) == queue.statistics().rejected == 1
    assert served(queue) == [("A", 6), ("B", 5)]


# Deletions.


def test_the_deletion_of_a_waiting_key_is_served() -> None:
    queue = update_queue(InPlaceScheduler())
    queue.enqueue("VOD", 1)
    assert queue.enqueue("VOD", TOMBSTONE) is Outcome.SUPERSEDED
    assert served(queue) == [("VOD", TOMBSTONE)]


def test_a_deletion_forgets_the_key_once_every_queue_has_delivered_it() -> None:
    stream = Stream(clock=ManualClock())
    fast, slow = UpdateQueue(InPlaceScheduler()), AppendQueue()
    stream.attach(fast)
    stream.attach(slow)
    stream.enqueue("VOD", 1)
    stream.enqueue("VOD", TOMBSTONE)
    assert stream.read("VOD") is None
    assert len(stream) == 1
    fast.deliver_many(fast.dequeue_many(9))
    assert (fast.statistics().forgotten, slow.statistics().forgotten) == (1, 0)
    first, second = slow.dequeue_many(9)
    slow.deliver(first)
    assert len(stream) == 1
    slow.deliver(second)
    assert slow.statistics().forgotten == 1
    assert len(stream) == 0
    stream._check()


def test_a_deletion_in_a_stream_without_queues_forgets_at_once() -> None:
    stream = Stream(clock=ManualClock())
    stream.enqueue("VOD", 1)
    stream.enqueue("VOD", TOMBSTONE)
    assert len(stream) == 0
    stream.enqueue_many(["BP", "VOD", "BP"], [1, 1, TOMBSTONE])
    assert [update.key for update in stream.snapshot()] == ["VOD"]
    assert len(stream) == 1


def test_a_key_that_updates_in_one_queue_before_another_has_delivered_its_deletion_stays() -> None:
    stream = Stream(clock=ManualClock())
    fast, slow = UpdateQueue(InPlaceScheduler()), UpdateQueue(InPlaceScheduler())
    stream.attach(fast)
    stream.attach(slow)
    stream.enqueue("VOD", TOMBSTONE, time=0)
    fast.deliver_many(fast.dequeue_many(1))
    deletion = slow.dequeue()
    assert deletion is not None
    stream.enqueue("VOD", 2, time=1)
    slow.deliver(deletion)
    assert (fast.statistics().keys, slow.statistics().keys) == (1, 1)
    assert stream.read("VOD") == Update("VOD", 2, 1.0)
    assert served(fast) == served(slow) == [("VOD", 2)]
    for queue in (fast, slow):
        queue._check()


# The starvation bound.


@dataclass(frozen=True)
class Waits:
    longest: float
    longest_of_neglected: float


def longest_wait_under_overload(scheduler: Scheduler, *, keys: int, cost: float) -> Waits:
    """Serve Poisson arrivals of one neglected key and many favoured ones, at load 4."""
    clock = ManualClock()
    queue = UpdateQueue(scheduler, clock=clock)
    seeded = random.Random(17)
    waiting_since: dict[object, float] = {}
    waits: dict[object, float] = dict.fromkeys(range(keys), 0.0)
    next_arrival = 0.0
    for number in range(4_000):
        now = number * cost
        while next_arrival <= now:
            clock.set(next_arrival)
            key = 0 if seeded.random() < 0.02 else seeded.randrange(1, keys)
            queue.enqueue(key, number)
            waiting_since.setdefault(key, next_arrival)
            next_arrival += seeded.expovariate(4.0 / cost)
        clock.set(now)
        update = queue.dequeue()
        if update is not None:
            waits[update.key] = max(waits[update.key], now - waiting_since.pop(update.key))
            queue.deliver(update)
    for still_waiting, since in waiting_since.items():
        waits[still_waiting] = max(waits[still_waiting], clock.now() - since)
    return Waits(longest=max(waits.values()), longest_of_neglected=waits[0])


def neglecting_key_0(longest_wait: float | None) -> Scheduler:
    return StalenessIndexScheduler(longest_wait, weight=lambda key: 0.0 if key == 0 else 1.0)


def test_no_key_waits_much_longer_than_the_longest_wait() -> None:
    # A key that is overdue goes first, so before it only others go that are overdue for longer:
    # each of them once, and the one that was being served already.
    keys, cost, longest_wait = 8, 0.5, 10.0
    bounded = longest_wait_under_overload(neglecting_key_0(longest_wait), keys=keys, cost=cost)
    assert bounded.longest <= longest_wait + keys * cost
    assert bounded.longest_of_neglected >= longest_wait, "it is served only because it must be"
    unbounded = longest_wait_under_overload(neglecting_key_0(None), keys=keys, cost=cost)
    assert unbounded.longest_of_neglected > 10 * longest_wait


def test_a_key_that_has_waited_exactly_the_longest_wait_is_first() -> None:
    clock = ManualClock()
    queue = UpdateQueue(neglecting_key_0(5.0), clock=clock)
    queue.enqueue(0, "neglected")
    clock.advance(1.0)
    queue.enqueue(1, "favoured")
    clock.advance(3.5)
    peeked = queue.peek()
    assert peeked is not None
    assert peeked.value == "favoured"
    clock.advance(0.5)
    assert served(queue) == [(0, "neglected"), (1, "favoured")]


# Everything is kept.

CHUNK = 100_000
"""More keys than the 16 bits of a digit by which batches are sorted."""


@pytest.fixture
def no_garbage_collection() -> Iterator[None]:
    """Keep Python from searching many objects for cycles, because all of them live."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@pytest.mark.usefixtures("no_garbage_collection")
@pytest.mark.parametrize(
    "number",
    [200_000, pytest.param(5_000_000, marks=pytest.mark.benchmark)],  # 20 s
)
def test_keys_by_the_million_written_twice_all_read_back_the_second_value(number: int) -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    for start in range(0, number, CHUNK):
        keys = np.arange(start, start + CHUNK)
        outcome = queue.enqueue_many(keys, keys, np.zeros(CHUNK))
        assert outcome.waiting == CHUNK
    for start in range(0, number, CHUNK):
        keys = np.arange(start, start + CHUNK)
        columns = (pa.array(column) for column in (keys, keys + number, np.ones(CHUNK)))
        outcome = queue.enqueue_many(*columns)
        assert outcome.superseded == CHUNK
    read = queue.read
    wrong = [key for key in range(number) if read(key) != (key, key + number, 1.0)]
    assert wrong == []
    statistics = queue.statistics()
    assert (statistics.waiting, statistics.superseded) == (number, number)
    assert statistics.is_balanced
