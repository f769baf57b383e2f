"""Nothing is applied twice and nothing handed out twice, whatever the network loses.

Between the client and the real service there is a network that cuts a third of the connections,
half of them when the service has acted already.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from upstream.client import AsyncClient, Client, ReceivedUpdate, RetryPolicy

from .lossy_proxy import LossyProxy, lossy_proxy

UPDATES = 150
PATIENT = RetryPolicy(1_000, first_delay=0.0001, longest_delay=0.001)

pytestmark = pytest.mark.slow


def values(updates: list[ReceivedUpdate]) -> list[object]:
    return [each.value for each in updates]


def put_all(client: Client, stream: str) -> None:
    client.put_many(stream, [(f"k{number % 7}", number) for number in range(UPDATES)], batch_size=3)


def assert_it_was_lossy(proxy: LossyProxy) -> None:
    assert proxy.lost_answers > 5
    assert proxy.lost_requests > 5


@pytest.mark.parametrize("seed", range(2))
def test_every_update_is_counted_once(
    service_url: str, name: str, client: Client, seed: int
) -> None:
    client.create_queue(name, kind="append")
    with lossy_proxy(service_url, seed=seed) as proxy, Client(proxy.url, retries=PATIENT) as lossy:
        put_all(lossy, name)
    assert_it_was_lossy(proxy)
    assert client.statistics(name).arrived == UPDATES
    assert values(client.dequeue(name, limit=10 * UPDATES)) == list(range(UPDATES))


def test_every_update_of_a_feed_is_counted_once(
    service_url: str, name: str, client: Client
) -> None:
    client.create_queue(name, kind="append")
    with (
        lossy_proxy(service_url) as proxy,
        Client(proxy.url, retries=PATIENT) as lossy,
        lossy.feed(name, batch_size=3, batch_seconds=0.001) as feed,
    ):
        for number in range(UPDATES):
            feed.put("k", number)
    assert_it_was_lossy(proxy)
    assert feed.counts.waiting == UPDATES
    assert values(client.dequeue(name, limit=10 * UPDATES)) == list(range(UPDATES))


@pytest.mark.parametrize("seed", range(2))
def test_every_update_is_handed_out_once(
    service_url: str, name: str, client: Client, seed: int
) -> None:
    client.create_queue(name, kind="append")
    put_all(client, name)
    received: list[ReceivedUpdate] = []
    with lossy_proxy(service_url, seed=seed) as proxy, Client(proxy.url, retries=PATIENT) as lossy:
        while updates := lossy.dequeue(name, limit=3):
            received += updates
    assert_it_was_lossy(proxy)
    assert values(received) == list(range(UPDATES))
    assert client.statistics(name).dequeued == UPDATES


def test_every_update_is_delivered_once(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name, kind="append", lease_seconds=60.0)
    put_all(client, name)
    with lossy_proxy(service_url) as proxy, Client(proxy.url, retries=PATIENT) as lossy:
        received = list(lossy.consume(name, limit=3, wait=0.0, until_empty=True))
    assert_it_was_lossy(proxy)
    assert values(received) == list(range(UPDATES))
    counters = client.statistics(name)
    assert (counters.dequeued, counters.delivered, counters.in_process) == (UPDATES, UPDATES, 0)


def test_a_key_is_deleted_and_a_queue_dropped_once(
    service_url: str, name: str, client: Client
) -> None:
    with lossy_proxy(service_url) as proxy, Client(proxy.url, retries=PATIENT) as lossy:
        for number in range(20):
            queue = f"{name}-{number}"
            lossy.create_queue(queue, stream=name, kind="append")
            lossy.put(name, "k", number)
            lossy.delete(name, "k")
            assert lossy.drop_queue(queue).statistics.arrived == 2
        assert lossy.drop_stream(name).name == name
    assert_it_was_lossy(proxy)
    assert name not in {each.name for each in client.streams()}


def test_several_tasks_hand_out_every_update_once(
    service_url: str, name: str, client: Client
) -> None:
    client.create_queue(name, kind="append")

    async def run(url: str) -> list[object]:
        async with AsyncClient(url, retries=PATIENT) as lossy:
            halves = [
                [(f"{half}", (half, number)) for number in range(UPDATES // 2)] for half in "ab"
            ]
            await asyncio.gather(*(lossy.put_many(name, half, batch_size=3) for half in halves))
            received: list[ReceivedUpdate] = []

            async def take() -> None:
                while updates := await lossy.dequeue(name, limit=3):
                    received.extend(updates)

            await asyncio.gather(take(), take(), take())
            return values(received)

    with lossy_proxy(service_url) as proxy:
        received = asyncio.run(run(proxy.url))
    assert_it_was_lossy(proxy)
    expected = [[half, number] for half in "ab" for number in range(UPDATES // 2)]
    assert sorted(received) == expected  # type: ignore[type-var]


def test_without_idempotency_keys_the_same_network_doubles_and_loses_updates(
    service_url: str, name: str, client: Client
) -> None:
    client.create_queue(name, kind="append")
    with (
        lossy_proxy(service_url, hides_keys=True) as proxy,
        Client(proxy.url, retries=PATIENT) as lossy,
    ):
        put_all(lossy, name)
        arrived = client.statistics(name).arrived
        received: list[ReceivedUpdate] = []
        while updates := lossy.dequeue(name, limit=3):
            received += updates
    assert arrived > UPDATES
    assert max(Counter(map(str, values(received))).values()) > 1
    assert len(received) < arrived


def test_a_watch_finally_has_all_newest_values(service_url: str, name: str, client: Client) -> None:
    client.create_queue(name)
    picture: dict[object, object] = {}
    client.put_many(name, [(f"k{number}", -1) for number in range(50)])
    put = 0
    with (
        lossy_proxy(service_url, loss=0.1) as proxy,
        Client(proxy.url, retries=PATIENT) as lossy,
        lossy.watch(name) as watch,
    ):
        for message in watch.messages():
            if message.is_reset:
                picture.clear()
            picture |= {each.key: each.value for each in message.updates}
            if put < UPDATES:
                client.put(name, f"k{put % 50}", put)
                put += 1
            elif picture == {each.key: each.value for each in client.snapshot(name)}:
                break
    assert put == UPDATES
    assert len(picture) == 50
    assert proxy.lost_answers > 5
