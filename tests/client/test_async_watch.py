"""A watch for asyncio, against a server on the loopback that follows a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import msgspec
import pytest
from websockets.sync.server import ServerConnection

from upstream.client import AsyncClient, RequestRefusedError, RetryPolicy

from .scripted_socket import Script, ScriptedSocket, cut, goodbye, message, scripted_socket

PATIENCE_SECONDS = 30.0
CREDIT = {"credit": 1}


async def no_sleep(seconds: float) -> None:
    assert seconds > 0


def client_of(server: ScriptedSocket) -> AsyncClient:
    return AsyncClient(server.url, timeout=10.0, sleep=no_sleep)


def test_updates_come_as_they_are_pushed_and_credit_follows_their_use() -> None:
    async def watch(server: ScriptedSocket) -> None:
        async with client_of(server) as client, client.watch("q", keys=["a*"]) as watch:
            updates = aiter(watch)
            assert (await anext(updates)).key == "a"
            assert (await anext(updates)).key == "b"
            assert server.credits.empty()
            assert (await anext(updates)).key == "c"
            assert await asyncio.to_thread(server.await_credit) == CREDIT

    with scripted_socket(Script([message("a", "b"), message("c")])) as server:
        asyncio.run(watch(server))
    assert server.paths == ["/v1/queues/q/socket?keys=a%2A"]


def test_a_wait_that_was_cancelled_loses_nothing() -> None:
    async def watch(server: ScriptedSocket, release: threading.Event) -> list[object]:
        async with client_of(server) as client, client.watch("q") as watch:
            updates, messages = aiter(watch), watch.messages()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(updates), 0.02)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(messages), 0.02)
            release.set()
            keys: list[object] = [(await anext(updates)).key]
            async for update in watch:
                keys.append(update.key)
                break
            return keys + [update.key for update in (await anext(messages)).updates]

    release = threading.Event()

    def later(connection: ServerConnection) -> None:
        release.wait(PATIENCE_SECONDS)
        connection.send(msgspec.json.encode(message("a", "b", "c")).decode())

    with scripted_socket(Script([], later)) as server:
        assert asyncio.run(watch(server, release)) == ["a", "b", "c"]
    assert len(server.paths) == 1


def test_a_wait_that_was_cancelled_before_there_was_a_connection_loses_nothing() -> None:
    async def watch(server: ScriptedSocket) -> object:
        async with client_of(server) as client:
            watch = client.watch("q")
            task = asyncio.ensure_future(anext(watch))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            found = (await anext(watch)).key
            await watch.close()
            return found

    with scripted_socket(Script([message("a")])) as server:
        assert asyncio.run(watch(server)) == "a"


def test_closing_it_ends_the_loop_of_another_task() -> None:
    async def watch(server: ScriptedSocket) -> list[object]:
        async with client_of(server) as client:
            watch = client.watch("q")
            seen = asyncio.Event()
            keys: list[object] = []

            async def read() -> None:
                async for update in watch:
                    keys.append(update.key)
                    seen.set()

            reading = asyncio.create_task(read())
            await asyncio.wait_for(seen.wait(), PATIENCE_SECONDS)
            await watch.close()
            await asyncio.wait_for(reading, PATIENCE_SECONDS)
            return keys

    with scripted_socket(Script([message("a")])) as server:
        assert asyncio.run(watch(server)) == ["a"]


def test_closing_it_ends_a_loop_that_waits_to_connect_again() -> None:
    async def watch(server: ScriptedSocket) -> list[object]:
        policy = RetryPolicy(first_delay=1_000.0, longest_delay=1e6)
        lost = asyncio.Event()
        async with AsyncClient(server.url, retries=policy) as client:
            watch = client.watch("q", on_lost=lambda *_: lost.set())

            async def read() -> list[object]:
                return [update.key async for update in watch]

            reading = asyncio.create_task(read())
            await asyncio.wait_for(lost.wait(), PATIENCE_SECONDS)
            await watch.close()
            return await asyncio.wait_for(reading, PATIENCE_SECONDS)

    with scripted_socket(Script([message("a")], cut)) as server:
        assert asyncio.run(watch(server)) == ["a"]


def test_messages_tell_when_a_new_picture_begins() -> None:
    async def watch(server: ScriptedSocket) -> list[bool]:
        async with client_of(server) as client, client.watch("q") as watch:
            messages = watch.messages()
            return [(await anext(messages)).is_reset for _ in range(2)]

    with scripted_socket(Script([message("a", reset=True), message("b")])) as server:
        assert asyncio.run(watch(server)) == [True, False]


@pytest.mark.parametrize("end", [cut, goodbye(1001)], ids=["cut", "1001"])
def test_a_lost_connection_is_made_again_from_where_it_was(end: Callable[..., None]) -> None:
    lost: list[tuple[Exception, float]] = []

    async def watch(server: ScriptedSocket) -> list[object]:
        keys: list[object] = []
        async with (
            client_of(server) as client,
            client.watch("q", on_lost=lambda *said: lost.append(said)) as watch,
        ):
            async for found in watch.messages():
                keys += [update.key for update in found.updates]
                if "c" in keys:
                    break
        return keys

    first = Script([message("a", id="r-1"), message("b", id="r-2")], end)
    with scripted_socket(first, Script([message("c")])) as server:
        assert asyncio.run(watch(server)) == ["a", "b", "c"]
    assert len(lost) == 1
    assert server.paths[1].endswith("?last_event_id=r-2")


def test_a_connection_that_the_service_ends_on_purpose_stays_so() -> None:
    async def watch(server: ScriptedSocket) -> None:
        async with client_of(server) as client, client.watch("q") as watch:
            with pytest.raises(RequestRefusedError, match="the queue was removed"):
                async for _ in watch.messages():
                    pass

    with scripted_socket(Script([], goodbye(1008, "the queue was removed"))) as server:
        asyncio.run(watch(server))


def test_a_watch_that_is_left_leaves_the_service() -> None:
    async def watch(server: ScriptedSocket) -> None:
        async with client_of(server) as client:
            async with client.watch("q") as watch:
                await anext(watch.messages())
            await asyncio.to_thread(server.await_close)
            assert [each async for each in watch] == []

    with scripted_socket(Script([message("a")])) as server:
        asyncio.run(watch(server))


def test_a_name_that_is_none_is_refused_at_once() -> None:
    async def watch(server: ScriptedSocket) -> None:
        async with client_of(server) as client:
            with pytest.raises(ValueError, match="name"):
                client.watch("../x")

    with scripted_socket(Script([])) as server:
        asyncio.run(watch(server))
