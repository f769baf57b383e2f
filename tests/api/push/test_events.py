"""The event stream as an ASGI application, without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from api.entries import QueueEntry
from api.push.events import HEARTBEAT, RETRY_MILLISECONDS
from api.push.selection import SelectionError
from api.service import Service
from tests.api.push.setting import (
    Connection,
    ScarceTurns,
    assert_nothing_is_left,
    define,
    event_stream,
    make_service,
    put,
    seconds_of_shutdown,
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


async def read_the_end(client: Connection) -> None:
    """Read until the stream ends, which it does without a last event."""
    while (last := await client.next()).get("more_body"):
        pass
    assert last == {"type": "http.response.body", "body": b""}


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


async def test_updates_are_events_with_an_id(service: Service, feed: QueueEntry) -> None:
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


async def test_a_client_resumes_by_the_id_of_its_last_event(
    service: Service, feed: QueueEntry
) -> None:
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


async def test_a_bad_parameter_is_an_error_before_anything_is_sent(service: Service) -> None:
    with pytest.raises(SelectionError):
        async with event_stream(service, "window=x"):
            await settle()


async def test_no_message_is_made_while_there_is_no_room_for_it(
    service: Service, feed: QueueEntry
) -> None:
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


async def test_messages_grow_while_they_leave_at_once_and_shrink_while_they_do_not(
    service: Service, feed: QueueEntry
) -> None:
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


async def test_an_update_that_was_sent_counts_as_delivered(
    service: Service, feed: QueueEntry
) -> None:
    async with event_stream(service) as client:
        await begin(client)
        (subscription,) = feed.stream.subscribers
        put(feed, IBM=1)
        await read_event(client)
        await settle()
        assert subscription.record()["delivered"] == 1


@pytest.mark.parametrize("is_behind", [False, True])
async def test_a_stream_that_is_silent_or_waits_for_its_turn_has_a_heartbeat(
    is_behind: bool,
) -> None:
    service = make_service(heartbeat_seconds=0.05)
    service.turns = turns = ScarceTurns()
    feed = define(service)
    async with event_stream(service) as client:
        if is_behind:
            await fall_behind(client, feed, turns)
        else:
            await begin(client)
        await read_three_heartbeats(client)
        turns.has_more = True


@pytest.mark.parametrize("is_deleted", [True, False])
async def test_a_stream_that_waits_for_its_turn_ends_at_once(
    service: Service, feed: QueueEntry, is_deleted: bool
) -> None:
    service.turns = turns = ScarceTurns()
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
async def test_the_end_of_a_queue_or_of_the_service_ends_the_stream(
    service: Service, is_deleted: bool
) -> None:
    async with event_stream(service) as client:
        await begin(client)
        await settle()
        if is_deleted:
            service.drop_queue("q")
        else:
            service.begin_shutdown()
        await read_the_end(client)


@pytest.mark.parametrize("kind", ["update", "adaptive"])
async def test_a_deleted_queue_ends_the_stream_of_a_client_that_is_behind(kind: str) -> None:
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
        await read_the_end(client)


async def test_nothing_is_left_of_a_client_that_disconnects(
    service: Service, feed: QueueEntry
) -> None:
    for is_stuck in (False, True):
        async with event_stream(service) as client:
            await begin(client)
            if is_stuck:
                client.room.clear()
                put(feed, IBM=1)
                await settle()
        assert_nothing_is_left(feed)


async def test_a_client_that_does_not_read_delays_the_end_only_a_little(
    service: Service, feed: QueueEntry, goodbye_seconds: float
) -> None:
    async with event_stream(service) as client:
        await begin(client)
        client.room.clear()
        put(feed, IBM=1)
        await settle()
        assert goodbye_seconds * 0.9 < await seconds_of_shutdown(service) < 5
