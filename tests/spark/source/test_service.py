"""The operations of the service, on a real one."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from upstream.client import Client, ServiceUnreachableError
from upstream.client.bodies import arrow_bodies
from upstream.spark.source.errors import QueueUnfitError, StreamMissingError
from upstream.spark.source.raw_updates import raw_updates
from upstream.spark.source.service import ServiceQueue, check_stream, put_arrow, snapshot


@pytest.fixture
def queue(client: Client, url: str, name: str) -> ServiceQueue:
    """Return a queue with leases and three updates."""
    client.create_queue(name, lease_seconds=60)
    client.put_many(name, [("a", {"x": 1}), ("b", 2.5), ("c", "text")])
    return ServiceQueue(client, url, name)


def test_the_same_key_takes_the_same_updates(queue: ServiceQueue, client: Client) -> None:
    first = queue.take(2, f"{queue.name}-1")
    assert queue.take(2, f"{queue.name}-1") == first
    second = queue.take(2, f"{queue.name}-2")
    taken = [update for answer in (first, second) for update in raw_updates(answer.body)]
    assert {update.key: msgspec.json.decode(update.value) for update in taken} == {
        "a": {"x": 1},
        "b": 2.5,
        "c": "text",
    }
    assert len({*first.leases, *second.leases}) == 3


def test_delivered_updates_are_no_longer_in_process(queue: ServiceQueue) -> None:
    leases = queue.take(10, f"{queue.name}-1").leases
    assert queue.look().in_process == 3
    queue.deliver(leases)
    assert queue.look().in_process == 0
    queue.deliver([*leases, "unknown"])


def test_updates_without_leases_are_an_error(queue: ServiceQueue) -> None:
    queue.client.drop_queue(queue.name)
    queue.client.create_queue(queue.name, snapshot=True)
    with pytest.raises(QueueUnfitError, match="was created again without leases"):
        queue.take(2, f"{queue.name}-1")


def test_a_limit_that_the_service_does_not_allow_is_explained(queue: ServiceQueue) -> None:
    with pytest.raises(QueueUnfitError, match=r"limit.*set the option `max_updates` lower"):
        queue.take(10_001, f"{queue.name}-1")


def test_an_unknown_queue_or_stream_is_reported_with_the_address(
    client: Client, url: str, name: str
) -> None:
    with pytest.raises(QueueUnfitError, match=f"no queue '{name}' at {url}"):
        ServiceQueue(client, url, name).look()
    for look in (check_stream, snapshot):
        with pytest.raises(StreamMissingError, match=f"no stream '{name}' at {url}"):
            look(client, url, name)


def test_an_unreachable_service_is_reported_with_its_address() -> None:
    with Client("http://127.0.0.1:9", retries=0) as unreachable:
        queue = ServiceQueue(unreachable, "http://127.0.0.1:9", "prices")
        for use in (queue.look, lambda: queue.take(1, "key"), lambda: queue.deliver(["a-1"])):
            with pytest.raises(ServiceUnreachableError, match=r"http://127\.0\.0\.1:9"):
                use()


def test_a_snapshot_has_the_newest_values(queue: ServiceQueue, client: Client, url: str) -> None:
    client.put(queue.name, "a", {"x": 2})
    updates = snapshot(client, url, queue.name)
    assert {update.key: update.text for update in updates} == {
        "a": '{"x":2}',
        "b": "2.5",
        "c": '"text"',
    }
    assert check_stream(client, url, queue.name).keys == 3


def test_a_body_that_is_sent_again_counts_once(client: Client, name: str) -> None:
    client.create_stream(name)
    table = pa.table({"key": ["a", "b"], "value": [1, 2]})
    ((_, body),) = arrow_bodies(table, 10)
    assert put_arrow(client, name, body, f"{name}-1") == put_arrow(client, name, body, f"{name}-1")
    assert client.stream(name).arrived == 2
    put_arrow(client, name, body, f"{name}-2")
    assert client.stream(name).arrived == 4
