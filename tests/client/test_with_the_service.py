"""Both clients against the real service, in a process of its own."""

from __future__ import annotations

import asyncio
import time

import pyarrow as pa
import pytest

from tests.server_process import running
from upstream.client import (
    AsyncClient,
    Client,
    ConflictError,
    InvalidRequestError,
    Key,
    NotFoundError,
    RequestRefusedError,
    ServiceUnreachableError,
)


def test_streams_and_queues_are_created_and_dropped(client: Client, name: str) -> None:
    stream = client.create_stream(name, retain=True, forget_after=60.0)
    assert (stream.name, stream.forget_after) == (name, 60.0)
    assert (stream.most_ahead, stream.too_far_ahead) == ("auto", 0)
    queue = client.create_queue(f"{name}-2", stream=name, scheduler="in-place", lease_seconds=5.0)
    assert (queue.stream, queue.scheduler, queue.lease_seconds) == (name, "in-place", 5.0)
    assert (
        client.create_queue(f"{name}-2", stream=name, scheduler="in-place", lease_seconds=5.0)
        == queue
    )
    with pytest.raises(ConflictError):
        client.create_queue(f"{name}-2", stream=name)
    assert queue in client.queues()
    client.put(name, "a", 1)
    [found] = [each for each in client.streams() if each.name == name]
    assert (found.queues, found.keys, found.arrived) == ([f"{name}-2"], 1, 1)
    assert client.drop_queue(f"{name}-2").statistics.arrived == 1
    assert client.drop_stream(name).queues == {}
    for call in (client.drop_stream, client.drop_queue, client.snapshot):
        with pytest.raises(NotFoundError):
            call(name)


@pytest.mark.parametrize(
    "key",
    [
        *(
            "IBM",
            "7",
            7,
            -(2**63),
            2**63 - 1,
            "",
            ".",
            "..",
            "a/b",
            "/",
            "a//b/",
            "é %2F?#&+",
            "\n",
        ),
        *(("NYSE", 7), ("a/b", "", 0), ("x",), '["x"]', "keys", "a" * 500),
    ],
    ids=repr,
)
def test_any_key_is_put_read_and_deleted(client: Client, name: str, key: Key) -> None:
    client.create_queue(name)
    client.put(name, key, {"of": "it"}, 5.0)
    for update in (client.get(name, key), client.read(name, key)):
        assert (update.key, update.value, update.time) == (key, {"of": "it"}, 5.0)
    client.delete(name, key)
    [deleted] = client.dequeue(name)
    assert (deleted.key, deleted.value, deleted.is_deleted) == (key, None, True)
    with pytest.raises(NotFoundError):
        client.get(name, key)


def test_the_outcomes_of_updates_are_counted(client: Client, name: str) -> None:
    client.create_queue(name)
    counts = client.put_many(
        name,
        [("a", 1, 10.0), ("a", 2, 11.0), ("a", 3, 9.0), ("k" * 5_000, 4), ("b", 5)],
        batch_size=2,
    )
    assert (counts.waiting, counts.superseded, counts.late, counts.rejected) == (2, 1, 1, 1)
    assert [each.index for each in counts.rejections] == [3]
    counters = client.statistics(name)
    assert (counters.arrived, counters.superseded, counters.late) == (4, 1, 1)


def test_a_batch_without_any_valid_update_is_counted(client: Client, name: str) -> None:
    client.create_queue(name)
    counts = client.put_many(name, [("k" * 5_000, 1)] * 150)
    assert (counts.waiting, counts.rejected, len(counts.rejections)) == (0, 150, 100)
    with pytest.raises(InvalidRequestError, match="key"):
        client.put(name, "k" * 5_000, 1)


def test_an_atomic_body_is_applied_completely_or_not_at_all(client: Client, name: str) -> None:
    client.create_queue(name)
    body = b'[["a", null, 1], ["%s", null, 2]]' % (b"k" * 5_000)
    with pytest.raises(InvalidRequestError) as caught:
        client.put_body(name, body, "application/json", is_atomic=True)
    assert caught.value.members["rejected"] == 1
    assert client.snapshot(name) == []
    assert client.put_body(name, body, "application/json").waiting == 1
    with pytest.raises(RequestRefusedError) as refused:
        client.put_body(name, body, "text/plain")
    assert refused.value.status == 415


def test_columns_and_tables_arrive(client: Client, name: str) -> None:
    client.create_queue(name)
    client.put_columns(name, ["a", "b"], [1, [2]], [1.0, 2.0])
    table = pa.table(
        {
            "key": pa.array(["b", "c", "b"]).dictionary_encode(),
            "time": [3.0, 4.0, 5.0],
            "value": [1.5, 2.5, 3.5],
        }
    )
    assert client.put_table(name, table, batch_size=2).superseded == 2
    found = {each.key: (each.value, each.time) for each in client.snapshot(name)}
    assert found == {"a": (1, 1.0), "b": (3.5, 5.0), "c": (2.5, 4.0)}


def test_a_lease_can_be_delivered_once(client: Client, name: str) -> None:
    client.create_queue(name, lease_seconds=60.0)
    client.put_many(name, [("a", 1), ("b", 2), ("c", 3)])
    first, second, third = client.dequeue(name)
    assert client.deliver(name, [first]).delivered == 1
    assert client.deliver(name, [first]).unknown == 1
    assert client.deliver(name, keys=[second.key], leases=[third.lease or ""]).delivered == 2


def test_a_dequeue_waits_for_an_update(service_url: str, client: Client, name: str) -> None:
    client.create_queue(name)

    async def run() -> tuple[Key, float]:
        async with AsyncClient(service_url) as other:
            began_at = time.monotonic()
            waiting = asyncio.create_task(other.dequeue(name, wait=30.0))
            await other.put(name, "a", 1)
            [update] = await waiting
            return update.key, time.monotonic() - began_at

    key, seconds = asyncio.run(run())
    assert key == "a"
    assert seconds < 25.0


def test_a_dequeue_may_wait_longer_than_an_answer_may_take(service_url: str, name: str) -> None:
    with Client(service_url, timeout=0.2, retries=0) as hasty:
        hasty.create_queue(name)
        assert hasty.dequeue(name, wait=0.5) == []


def test_staleness_is_measured(client: Client, name: str) -> None:
    client.create_queue(name, processing_cost=0.5)
    client.put_many(name, [(f"k{number}", number) for number in range(20)])
    found = client.staleness(name, stalest=3)
    assert found.rates.keys == 20
    assert found.cost == 0.5
    assert len(found.stalest_keys) == 3
    assert found.queue_staleness is not None
    assert found.queue_staleness > 0
    assert found.worst_key in {each.key for each in found.stalest_keys}
    assert found.ranks[0].rank == 1


def test_a_window_queue_hands_out_results(client: Client, name: str) -> None:
    client.create_queue(name, kind="window", window={"size": 10.0, "aggregate": "max"})
    client.put_many(name, [("a", 1, 0.0), ("a", 7, 5.0), ("a", 2, 11.0)])
    [update] = client.dequeue(name, wait=1.0)
    assert (update.key, update.time) == ("a", 10.0)
    assert client.statistics(name).windows is not None


def test_a_watch_begins_with_the_newest_values(client: Client, name: str) -> None:
    client.create_queue(name)
    client.put_many(name, [("a", 1), ("b", 2)])
    with client.watch(name) as watch:
        updates = iter(watch)
        assert {next(updates).key for _ in range(2)} == {"a", "b"}
        client.put(name, "c", 3)
        assert next(updates).key == "c"
        client.delete(name, "a")
        deleted = next(updates)
        assert (deleted.key, deleted.is_deleted) == ("a", True)
    assert client.statistics(name).dequeued == 0


def test_a_slow_reader_gets_the_newest_value(client: Client, name: str) -> None:
    client.create_queue(name)
    with client.watch(name, window=1, snapshot=False) as watch:
        client.put(name, "start", 0)
        messages = watch.messages()
        next(messages)
        for number in range(200):  # while the reader is busy with the first message
            client.put(name, "a", number)
        assert [update.value for update in next(messages).updates] == [199]


def test_only_some_keys_are_watched(client: Client, name: str) -> None:
    client.create_queue(name)
    with client.watch(name, keys=["G*"], max_rate=1_000.0, max_rate_per_key={"*": 500.0}) as watch:
        client.put_many(name, [("IBM", 1), ("GOOG", 2), ("MSFT", 3), ("GM", 4)])
        updates = iter(watch)
        assert {next(updates).key for _ in range(2)} == {"GOOG", "GM"}


def test_a_key_is_pushed_no_faster_than_its_rate(client: Client, name: str) -> None:
    client.create_queue(name)
    with client.watch(name, max_rate_per_key={"slow": 0.001}, snapshot=False) as watch:
        client.put(name, "slow", 1)
        updates = iter(watch)
        assert next(updates).value == 1
        for number in range(5):
            client.put(name, "slow", number)
            client.put(name, "fast", number)
            assert next(updates).key == "fast"


def test_invalid_options_of_a_watch_are_refused(client: Client, name: str) -> None:
    client.create_queue(name)
    with pytest.raises(RequestRefusedError), client.watch(name, max_rate=-1.0):
        pass


def test_an_unknown_queue_cannot_be_watched(client: Client, name: str) -> None:
    with pytest.raises(NotFoundError, match="no queue"), client.watch(name):
        pass
    with pytest.raises(NotFoundError, match="no queue"):
        next(iter(client.watch(name)))


def test_a_watch_of_a_stream_without_retained_values_begins_with_new_ones(
    client: Client, name: str
) -> None:
    client.create_stream(name, retain=False)
    client.create_queue(name)
    client.put(name, "a", 1)
    with client.watch(name) as watch:
        client.put(name, "b", 2)
        assert next(iter(watch)).key == "b"


def test_an_update_waits_again_when_its_lease_expires(client: Client, name: str) -> None:
    client.create_queue(name, lease_seconds=0.3)
    client.put(name, "a", 1)
    [first] = client.dequeue(name)
    [again] = client.dequeue(name, wait=30.0)
    assert (again.key, again.lease == first.lease) == ("a", False)


def test_a_batch_with_a_chosen_idempotency_key_can_be_requested_again(
    client: Client, service_url: str, name: str
) -> None:
    client.create_queue(name, lease_seconds=0.1)
    client.put(name, "a", 1)
    batch = client.dequeue(name, idempotency_key=f"{name} 1")
    time.sleep(0.2)
    with Client(service_url) as another:
        assert another.dequeue(name, idempotency_key=f"{name} 1") == batch
    assert client.dequeue(name) == []
    assert client.deliver(name, batch).delivered == 1


def test_a_watch_ends_when_its_queue_is_dropped(client: Client, name: str) -> None:
    client.create_queue(name)
    client.put(name, "a", 1)
    with client.watch(name) as watch:
        updates = iter(watch)
        next(updates)
        client.drop_queue(name)
        with pytest.raises(NotFoundError, match="the queue was deleted"):
            next(updates)


def test_the_asyncio_client_works_with_the_service(service_url: str, name: str) -> None:
    async def run() -> None:
        async with AsyncClient(service_url) as client:
            await client.create_queue(name, lease_seconds=60.0)
            async with client.watch(name) as watch, client.feed(name, batch_size=2) as feed:
                await feed.put("a", 1)
                await feed.put("b", 2)
                messages = watch.messages()
                found: set[Key] = set()
                while found < {"a", "b"}:
                    found |= {update.key for update in (await anext(messages)).updates}
            consumed = [
                update.key async for update in client.consume(name, wait=0.0, until_empty=True)
            ]
            assert sorted(map(str, consumed)) == ["a", "b"]
            assert (await client.statistics(name)).delivered == 2
            await client.drop_stream(name)
            with pytest.raises(NotFoundError):
                await client.staleness(name)

    asyncio.run(run())


@pytest.mark.slow
def test_a_restarted_service_begins_a_new_picture() -> None:
    lost: list[tuple[Exception, float]] = []
    with running() as first, Client(first.url, timeout=10.0) as client:
        client.create_queue("q")
        client.put_many("q", [("a", 1), ("gone", 2)])
        watch = client.watch("q", on_lost=lambda *said: lost.append(said))
        messages = watch.messages()
        seen: set[Key] = set()
        while seen != {"a", "gone"}:
            seen |= {update.key for update in next(messages).updates}
        port = first.port
    with (
        running(("-m", "api", "--port", str(port), "--no-demo")) as second,
        Client(second.url) as again,
    ):
        again.create_queue("q")
        again.put("q", "a", 3)
        while True:
            message = next(messages)
            if message.is_reset:
                break
        assert [update.key for update in message.updates] == ["a"]
        watch.close()
    assert lost


def test_an_unreachable_service_is_an_error(unused_url: str) -> None:
    with Client(unused_url, retries=0) as client, pytest.raises(ServiceUnreachableError):
        client.streams()


@pytest.mark.parametrize("key", ["IBM", "a/b?c", 7, ("NYSE", "x/reset")])
def test_a_key_with_a_time_far_ahead_can_be_reset(client: Client, name: str, key: Key) -> None:
    client.create_stream(name, most_ahead=None)
    client.put(name, key, 1, time=9e12)
    assert client.put(name, key, 2, time=5.0).late == 1
    assert client.reset_key(name, key)
    assert not client.reset_key(name, key)
    assert client.put(name, key, 2, time=5.0).late == 0
    assert client.get(name, key).value == 2
