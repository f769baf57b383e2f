"""A queue, stream or connection that is gone gives its memory back at once, uncollected."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable

import pytest

from api.entries import QueueEntry, StreamEntry
from api.push.subscription import Subscription
from api.service import Service
from tests.api.push.setting import define, make_service, subscribe
from tests.api.serving import serving
from tests.api.test_churn import KINDS, MANY_BYTES
from upstream import PagePool

KEYS = 500


def living() -> Counter[type]:
    """Count the objects of the service and the library, and the tuples, by their classes."""
    kinds = Counter(map(type, gc.get_objects()))
    ours = ("api.", "upstream.")
    return Counter(
        {
            kind: count
            for kind, count in kinds.items()
            if kind is tuple or str(kind.__module__).startswith(ours)
        }
    )


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
        return living()

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
