"""Keys that come and go leave nothing behind, whichever way a queue is read."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from api.definitions import QueueDefinition, StreamDefinition
from api.deletions import Deletions
from api.entries import QueueEntry
from api.push.subscription import Subscription
from tests.api.push.setting import define, make_service, subscribe
from upstream import ManualClock

KINDS: dict[str, dict[str, Any]] = {
    "append": {"kind": "append"},
    "append-shedding": {"kind": "append", "capacity": 1_000, "shedding": True},
    "adaptive": {"kind": "adaptive"},
    "fifo": {"scheduler": "fifo"},
    "in-place": {"scheduler": "in-place"},
    "linecutting": {"scheduler": "linecutting"},
    "index": {"scheduler": "index"},
    "window": {"kind": "window", "window": {"size": 1.0, "aggregate": "count"}},
}
KEYS_AT_ONCE = 100
MANY_BYTES = 1 << 20

Read = Callable[[], None]


def by_dequeue(queue: QueueEntry) -> Read:
    def read() -> None:
        while updates := queue.take(1_000, MANY_BYTES):
            queue.deliver(updates)

    return read


def by_push(queue: QueueEntry) -> Read:
    subscription: Subscription = subscribe(queue)

    def read() -> None:
        while subscription.take(MANY_BYTES) is not None:
            subscription.delivered(1)

    return read


def come_and_go(queue: QueueEntry, read: Read, *, keys: int, first: int = 0) -> None:
    """Put so many keys that were not there before, and delete them, some at a time."""
    for start in range(first, first + keys, KEYS_AT_ONCE):
        present = [f"key {number}" for number in range(start, start + KEYS_AT_ONCE)]
        for time in (1.0, 2.5):  # the second one closes the window of the first
            queue.stream.take_in(present, [b"1"] * KEYS_AT_ONCE, [time] * KEYS_AT_ONCE)
            read()
        for key in present:
            queue.stream.delete(key)
        read()


def living() -> Counter[type]:
    """Count the objects that the collector knows of."""
    return Counter(map(type, gc.get_objects()))


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("way", [by_dequeue, by_push], ids=lambda way: way.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_flat_while_keys_come_and_go(
    kind: str, way: Callable[[QueueEntry], Read]
) -> None:
    queue = define(make_service(), **KINDS[kind])
    stream = queue.stream
    stream.deletions = Deletions(
        start=0.0, is_gone=lambda key: stream.stream.read(key) is None, most=10
    )
    read = way(queue)
    come_and_go(queue, read, keys=1_000)
    before = living()
    come_and_go(queue, read, keys=2_000, first=1_000)
    assert len(stream.stream) == len(queue.queue) == 0
    assert stream.stream.statistics().arrived == 9_000
    left = sum((living() - before).values())
    assert left < 500, "one object for each key would be 2,000"


@pytest.mark.parametrize("way", [by_dequeue, by_push], ids=lambda way: way.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_keys_that_are_quiet_are_forgotten_by_age(
    kind: str, way: Callable[[QueueEntry], Read]
) -> None:
    clock = ManualClock()
    service = make_service(clock)
    service.define_stream("q", StreamDefinition(forget_after=10.0))
    queue, _ = service.define_queue("q", QueueDefinition(**KINDS[kind]))
    read = way(queue)
    for time in (1.0, 2.5):
        queue.stream.take_in(["IBM", "GM"], [b"1", b"2"], [time, time])
        read()
    assert len(queue.stream.stream) == 2
    clock.advance(10.0)
    assert len(queue.stream.stream) == 0
