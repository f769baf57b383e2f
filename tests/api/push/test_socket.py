"""The websocket endpoint as an ASGI application, without a network."""

from __future__ import annotations

import random
import time
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest

from api.entries import QueueEntry
from api.push.socket import serve_socket
from api.push.subscription import Ending
from api.service import Service
from tests.api.push.setting import (
    Connection,
    ScarceTurns,
    assert_nothing_is_left,
    define,
    make_service,
    put,
    scope_of,
    seconds_of_shutdown,
    settle,
    values_of,
    websocket,
)
from upstream import UnknownNameError


def decoded(message: Any) -> Any:
    return msgspec.json.decode(message["text"])


async def test_updates_are_sent_as_they_come(service: Service, feed: QueueEntry) -> None:
    async with websocket(service) as client:
        for number in range(3):
            put(feed, IBM=number)
            assert values_of(await client.message()) == {"IBM": number}
            client.answer()
        assert await client.waiting() == []
    assert service.meter.push_updates_sent == 3


async def test_an_unknown_queue_is_an_error_before_the_websocket_is_accepted(
    service: Service,
) -> None:
    connection = Connection()
    connection.received.put_nowait({"type": "websocket.connect"})
    scope = scope_of("websocket")
    with pytest.raises(UnknownNameError):
        await serve_socket(service, "none", scope, connection.receive, connection.send)
    assert await connection.waiting() == []


async def test_a_websocket_that_waits_for_its_turn_is_closed_at_once(
    service: Service, feed: QueueEntry
) -> None:
    service.turns = turns = ScarceTurns()
    async with websocket(service) as client:
        turns.has_more = False
        feed.stream.take_in([f"K{number}" for number in range(2_000)], [b"1"] * 2_000)
        await client.message()
        service.drop_queue("q")
        await settle()
        closed = await client.next()
        assert (closed["type"], closed["code"]) == ("websocket.close", 1001)


@pytest.mark.parametrize("window", [1, 3])
async def test_the_window_bounds_the_unanswered_messages(
    service: Service, feed: QueueEntry, window: int
) -> None:
    async with websocket(service, f"window={window}") as client:
        for number in range(10):
            put(feed, IBM=number)
            await settle()
        sent = await client.waiting()
        assert len(sent) == window
        client.answer(1)
        (message,) = await client.waiting()
        assert values_of(decoded(message)) == {"IBM": 9}  # the others were superseded


async def test_credit_for_more_messages_than_were_sent_is_capped_at_the_window(
    service: Service, feed: QueueEntry
) -> None:
    async with websocket(service, "window=2") as client:
        client.answer(1_000_000)
        for number in range(10):
            put(feed, IBM=number)
            await settle()
        assert len(await client.waiting()) == 2


async def test_the_window_is_kept_whatever_the_client_does(
    service: Service, feed: QueueEntry
) -> None:
    chance = random.Random(1)
    async with websocket(service, "window=4&snapshot=true") as client:
        unanswered = 0
        for number in range(500):
            for _ in range(chance.randrange(4)):
                put(feed, **{f"K{chance.randrange(100)}": number})
            if unanswered and chance.random() < 0.5:
                answered = chance.randint(1, unanswered)
                client.answer(answered)
                unanswered -= answered
            unanswered += len(await client.waiting())
            assert unanswered <= 4
            for subscription in feed.stream.subscribers:
                record = subscription.record()
                assert int(str(record["sent"])) >= int(str(record["delivered"]))


async def test_an_answer_delivers_the_oldest_messages(service: Service, feed: QueueEntry) -> None:
    async with websocket(service) as client:
        for number in range(3):
            put(feed, **{f"K{number}": 1, f"L{number}": 1})
            await settle()
        (subscription,) = feed.stream.subscribers
        client.answer(2)
        await settle()
        assert subscription.record()["delivered"] == 4


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("{", 1007),
        ("", 1007),
        ('{"credit":1', 1007),
        ("[" * 100_000, 1008),
        ("[]", 1008),
        ('{"credit":0}', 1008),
        ('{"credit":-1}', 1008),
        ('{"credit":1.5}', 1008),
        ('{"credit":true}', 1008),
        ('{"credit":1,"more":2}', 1008),
        ('{"credit":99999999999999999999}', 1008),
        ('{"key":"IBM","value":1}', 1008),
    ],
)
async def test_a_message_that_is_not_credit_closes_the_websocket_with_a_reason(
    service: Service, feed: QueueEntry, said: str, code: int
) -> None:
    async with websocket(service) as client:
        client.say(said)
        close = await client.next()
        assert (close["type"], close["code"]) == ("websocket.close", code)
        assert "credit" in close["reason"]
        await settle()
        assert not feed.stream.subscribers


async def test_credit_may_come_as_bytes(service: Service, feed: QueueEntry) -> None:
    async with websocket(service) as client:
        put(feed, IBM=1)
        await client.message()
        client.received.put_nowait({"type": "websocket.receive", "bytes": b'{"credit":1}'})
        await settle()
        (subscription,) = feed.stream.subscribers
        assert subscription.record()["delivered"] == 1
        client.received.put_nowait({"type": "websocket.receive", "bytes": b"\xff"})
        assert (await client.next())["code"] == 1007


@pytest.mark.parametrize(("ending", "code"), [(Ending.SHUTDOWN, 1012), (Ending.DELETED, 1001)])
async def test_the_close_code_says_whether_the_queue_or_the_service_ended(
    service: Service, ending: Ending, code: int
) -> None:
    async with websocket(service) as client:
        if ending is Ending.SHUTDOWN:
            service.begin_shutdown()
        else:
            service.drop_queue("q")
        close = await client.next()
        assert (close["type"], close["code"]) == ("websocket.close", code)


async def test_a_client_that_does_not_read_delays_the_end_only_a_little(
    service: Service, feed: QueueEntry, goodbye_seconds: float
) -> None:
    async with websocket(service) as client:
        client.room.clear()
        put(feed, IBM=1)
        await settle()
        assert goodbye_seconds * 0.9 < await seconds_of_shutdown(service) < 5


async def test_nothing_is_left_of_a_client_that_disconnects(
    service: Service, feed: QueueEntry
) -> None:
    for end in ("idle", "busy", "lost"):
        async with websocket(service, "max_rate_per_key=1/60") as client:
            put(feed, **{f"K{number}": 1 for number in range(100)})
            if end == "busy":
                await settle()
            if end == "lost":
                await settle()
                client.is_lost = True
                put(feed, IBM=1)
                await settle()
        assert_nothing_is_left(feed)


async def test_a_connection_that_is_behind_lets_one_that_keeps_up_go_first(
    service: Service, feed: QueueEntry
) -> None:
    put(feed, **{f"K{number}": 1 for number in range(2_000)})
    async with AsyncExitStack() as stack:
        slow = [websocket(service, "snapshot=true&window=1000") for _ in range(5)]
        clients = [await stack.enter_async_context(connection) for connection in slow]
        async with websocket(service, "snapshot=false") as fast:
            for client in clients:
                client.answer(1)
            put(feed, IBM=2)
            assert values_of(await fast.message()) == {"IBM": 2}
            assert len(service.turns) > 0


async def test_a_key_that_is_held_back_is_sent_when_it_is_due(
    service: Service, feed: QueueEntry
) -> None:
    async with websocket(service, "max_rate_per_key=IBM:20") as client:
        put(feed, IBM=1)
        assert values_of(await client.message()) == {"IBM": 1}
        client.answer()
        started = time.monotonic()
        put(feed, IBM=2)
        put(feed, IBM=3, GM=1)
        assert values_of(await client.message()) == {"GM": 1}
        client.answer()
        assert values_of(await client.message()) == {"IBM": 3}
    assert time.monotonic() - started > 0.03


async def test_a_bounded_rate_is_kept_without_further_updates(
    service: Service, feed: QueueEntry
) -> None:
    put(feed, **{f"K{number}": 1 for number in range(10)})
    started = time.monotonic()
    async with websocket(service, "snapshot=true&max_rate=50") as client:
        received = 0
        while received < 10:
            received += len((await client.message())["updates"])
            client.answer()
    assert 0.1 < time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("definition", "updates"),
    [
        ({"kind": "append"}, 3),
        ({"kind": "adaptive"}, 3),
        ({"kind": "window", "window": {"size": 1}}, 1),
    ],
)
async def test_every_kind_of_queue_can_be_pushed(definition: dict[str, Any], updates: int) -> None:
    service = make_service()
    feed = define(service, **definition)
    async with websocket(service) as client:
        await settle()
        for moment in (0.0, 1.0, 2.0):
            feed.stream.take_in_one("IBM", b"1", moment)
        message = await client.message()
        assert [update["key"] for update in message["updates"]] == ["IBM"] * updates
