"""No memory is left of deleted keys, queues, streams and connections, without a collection."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from api.definitions import QueueDefinition, StreamDefinition
from api.deletions import Deletions
from api.entries import QueueEntry, StreamEntry
from api.push.subscription import Subscription
from api.service import Service
from tests.api.push.setting import define, make_service, subscribe
from tests.api.serving import serving
from upstream import ManualClock, PagePool

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

KEYS = 500

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


# Queues, streams and connections


def living_of_ours() -> Counter[type]:
    """Count the objects of the service and the library, and the tuples, by their classes."""
    ours = ("api.", "upstream.")
    kinds = living().items()
    return Counter({k: n for k, n in kinds if k is tuple or str(k.__module__).startswith(ours)})


def put_many(queue: QueueEntry) -> None:
    keys = [f"key {number}" for number in range(KEYS)]
    for time in (1.0, 2.5):
        queue.stream.take_in(keys, [b"1"] * KEYS, [time] * KEYS)


def drop_a_queue(service: Service) -> None:
    queue = service.queue("q")
    queue.take(KEYS // 2, MANY_BYTES)
    service.drop_queue("q")
    service.queue("other").stream.stream.statistics()


def drop_a_stream(service: Service) -> None:
    service.drop_stream("q")


def close_a_connection(service: Service) -> None:
    subscription = subscribe(service.queue("other"), "snapshot=true")
    put_many(service.queue("other"))
    subscription.take(MANY_BYTES)
    subscription.close()


def drop_what_connections_are_served_from(service: Service) -> None:
    queue = service.queue("q")
    subscriptions = [subscribe(queue), subscribe(queue)]
    put_many(queue)
    for subscription in subscriptions:
        subscription.take(MANY_BYTES)
    queue.take(KEYS // 2, MANY_BYTES)
    service.drop_queue("q")


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    "end",
    [drop_a_queue, drop_a_stream, close_a_connection, drop_what_connections_are_served_from],
    ids=lambda end: end.__name__,
)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_a_deleted_queue_stream_or_connection(
    kind: str, end: Callable[[Service], None]
) -> None:
    service = make_service()

    def come_and_go() -> Counter[type]:
        queue = define(service, **KINDS[kind])
        define(service, "other", stream="q", kind="append", capacity=10)
        put_many(queue)
        del queue
        end(service)
        if "q" in service.streams:
            service.drop_stream("q")
        return living_of_ours()

    come_and_go()  # some things are made once
    first = come_and_go()
    left = come_and_go() - first
    assert sum(left.values()) < KEYS / 10, left
    assert not [kind for kind in left if kind in {StreamEntry, QueueEntry, Subscription}]


@pytest.mark.usefixtures("uncollected")
def test_a_page_pool_goes_with_its_stream_though_answers_are_kept() -> None:
    def pools() -> int:
        return sum(isinstance(each, PagePool) for each in gc.get_objects())

    before = pools()
    with serving() as client:
        client.put("/v1/streams/s", json={"pool_bytes": 1 << 20})
        client.put("/v1/queues/q", json={"stream": "s", "lease_seconds": 60})
        client.put_updates("s", {"key": "IBM", "value": 1})
        headers = {"idempotency-key": "kept"}
        assert client.post("/v1/queues/q/dequeue", headers=headers).status_code == 200
        client.delete("/v1/streams/s/keys/IBM")
        assert pools() == before + 1
        assert client.delete("/v1/streams/s").status_code == 200
        assert pools() == before
