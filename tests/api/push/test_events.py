"""The event stream as an ASGI application, without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from api.entries import QueueEntry
from api.push.events import HEARTBEAT, RETRY_MILLISECONDS
from api.push.selection import SelectionError
from tests.api.push.setting import (
    Connection,
    ScarceTurns,
    define,
    event_stream,
    make_service,
    put,
    settle,
    values_of,
)


async def begin(client: Connection) -> dict[bytes, bytes]:
    """Read the head of an answer, and the advice on reconnecting."""
    start = await client.next()
    assert (start["type"], start["status"]) == ("http.response.start", 200)
    advice = await client.next()
    assert advice["body"] == b"retry: %d\n\n" % RETRY_MILLISECONDS
    return dict(start["headers"])


async def read_three_heartbeats(client: Connection) -> None:
    """Read heartbeats, between which there is nothing else."""
    beats = 0
    while beats < 3:
        body = (await client.next())["body"]
        assert body in (b"", HEARTBEAT)
        beats += body == HEARTBEAT


async def fall_behind(client: Connection, feed: QueueEntry, turns: ScarceTurns) -> None:
    """Begin, and read one event of many, after which there is no turn."""
    await begin(client)
    turns.has_more = False
    feed.stream.take_in([f"K{number}" for number in range(2_000)], [b"1"] * 2_000)
    await read_event(client)


async def read_event(client: Connection) -> tuple[str, Any]:
    """Read the next event, and return its id and its data."""
    while (body := (await client.next())["body"]) in (b"", HEARTBEAT):
        pass
    assert body.endswith(b"\n\n")
    fields = dict(line.split(b": ", 1) for line in body[:-2].split(b"\n"))
    assert fields.keys() == {b"id", b"data"}
    return fields[b"id"].decode(), msgspec.json.decode(fields[b"data"])


async def test_updates_are_events_with_an_id() -> None:
    service = make_service()
    feed = define(service)
    async with event_stream(service) as client:
        headers = await begin(client)
        assert headers[b"content-type"] == b"text/event-stream"
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-accel-buffering"] == b"no"
        for number in range(3):
            put(feed, IBM=number)
            event_id, message = await read_event(client)
            assert values_of(message) == {"IBM": number}
            assert message["id"] == event_id
    assert service.meter.push_updates_sent == 3


async def test_a_reader_comes_back_with_the_id_of_the_last_event() -> None:
    service = make_service()
    feed = define(service)
    put(feed, A=1, B=1)
    async with event_stream(service, "snapshot=true") as client:
        await begin(client)
        event_id, message = await read_event(client)
        assert values_of(message) == {"A": 1, "B": 1}
    put(feed, B=2)
    feed.stream.delete("A")
    last = [(b"last-event-id", event_id.encode())]
    async with event_stream(service, "snapshot=true", headers=last) as client:
        await begin(client)
        _, message = await read_event(client)
        assert values_of(message) == {"B": 2, "A": None}
    last = [(b"last-event-id", b"another-5")]
    async with event_stream(service, "snapshot=true", headers=last) as client:
        await begin(client)
        _, message = await read_event(client)
        assert message["reset"] is True
        assert values_of(message) == {"B": 2}


async def test_what_cannot_be_had_is_raised_before_anything_is_sent() -> None:
    service = make_service()
    define(service)
    with pytest.raises(SelectionError):
        async with event_stream(service, "window=x"):
            await settle()


async def test_nothing_is_put_together_while_there_is_no_room_for_it() -> None:
    service = make_service()
    feed = define(service)
    async with event_stream(service) as client:
        await begin(client)
        put(feed, IBM=1)
        await read_event(client)
        client.room.clear()
        for number in range(2, 10):
            put(feed, IBM=number)
            await settle()
        client.room.set()
        _, message = await read_event(client)
        assert values_of(message) == {"IBM": 9}


async def test_messages_grow_while_they_leave_at_once_and_shrink_while_they_do_not() -> None:
    service = make_service()
    feed = define(service)
    keys = [f"K{number}" for number in range(2_000)]
    async with event_stream(service) as client:
        await begin(client)
        feed.stream.take_in(keys, [b"1"] * len(keys))
        received = 0
        while received < len(keys):
            received += len((await read_event(client))[1]["updates"])
        (subscription,) = feed.stream.subscribers
        most = subscription.message_bytes
        assert most > 4_096
        feed.stream.take_in(keys, [b"2"] * len(keys))
        received = 0
        while received < len(keys):
            client.room.clear()
            await asyncio.sleep(0.03)
            client.room.set()
            received += len((await read_event(client))[1]["updates"])
            if subscription.message_bytes <= 1_024:
                break
        assert subscription.message_bytes <= 1_024


async def test_what_has_left_counts_as_delivered() -> None:
    service = make_service()
    feed = define(service)
    async with event_stream(service) as client:
        await begin(client)
        (subscription,) = feed.stream.subscribers
        put(feed, IBM=1)
        await read_event(client)
        await settle()
        assert subscription.record()["delivered"] == 1


async def test_a_stream_that_is_silent_has_a_heartbeat() -> None:
    service = make_service(heartbeat_seconds=0.05)
    define(service)
    async with event_stream(service) as client:
        await begin(client)
        await read_three_heartbeats(client)


async def test_a_stream_that_waits_for_its_turn_has_a_heartbeat() -> None:
    service = make_service(heartbeat_seconds=0.05)
    service.turns = turns = ScarceTurns()
    feed = define(service)
    async with event_stream(service) as client:
        await fall_behind(client, feed, turns)
        await read_three_heartbeats(client)
        turns.has_more = True


@pytest.mark.parametrize("is_deleted", [True, False])
async def test_a_stream_that_waits_for_its_turn_ends_at_once(is_deleted: bool) -> None:
    service = make_service()
    service.turns = turns = ScarceTurns()
    feed = define(service)
    async with event_stream(service) as client:
        await fall_behind(client, feed, turns)
        if is_deleted:
            service.drop_queue("q")
        else:
            client.received.put_nowait({"type": "http.disconnect"})
            turns.has_more = True
        await settle()
        assert not feed.stream.subscribers
        assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("is_deleted", [True, False])
async def test_the_end_of_a_queue_or_of_the_service_ends_the_stream(is_deleted: bool) -> None:
    service = make_service()
    define(service)
    async with event_stream(service) as client:
        await begin(client)
        await settle()
        if is_deleted:
            service.drop_queue("q")
        else:
            service.begin_shutdown()
        while (last := await client.next()).get("more_body"):
            pass
        assert last == {"type": "http.response.body", "body": b""}


@pytest.mark.parametrize("kind", ["update", "adaptive"])
async def test_the_end_of_a_queue_whose_reader_is_behind_is_an_end_like_others(kind: str) -> None:
    service = make_service()
    feed = define(service, kind=kind)
    async with event_stream(service) as client:
        await begin(client)
        feed.stream.take_in([f"K{number}" for number in range(2_000)], [b"1"] * 2_000)
        await read_event(client)
        client.room.clear()
        await settle()
        service.drop_queue("q")
        client.room.set()
        while (last := await client.next()).get("more_body"):
            pass
        assert last == {"type": "http.response.body", "body": b""}


async def test_a_reader_that_goes_leaves_nothing_behind() -> None:
    service = make_service()
    feed = define(service)
    for is_stuck in (False, True):
        async with event_stream(service) as client:
            await begin(client)
            if is_stuck:
                client.room.clear()
                put(feed, IBM=1)
                await settle()
        assert not feed.stream.subscribers
        assert feed.stream.stream.statistics().queues == 0
        assert len(feed.stream.idle) == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}


def test_a_reader_that_does_not_read_delays_the_end_only_a_little(
    goodbye_seconds: float,
) -> None:
    async def scenario() -> float:
        service = make_service()
        feed = define(service)
        async with event_stream(service) as client:
            await begin(client)
            client.room.clear()
            put(feed, IBM=1)
            await settle()
            loop = asyncio.get_running_loop()
            started = loop.time()
            service.begin_shutdown()
            while len(asyncio.all_tasks()) > 1:
                await asyncio.sleep(0.01)
            return loop.time() - started

    assert goodbye_seconds * 0.9 < asyncio.run(scenario()) < 5
