"""Both kinds of watch, against a server on the loopback that follows a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest
from websockets.sync.server import ServerConnection

from upstream import ParameterError
from upstream.client import (
    AsyncClient,
    Client,
    RequestRefusedError,
    RetryPolicy,
    ServiceUnreachableError,
    Watch,
)
from upstream.client.watch import sleep_unless
from upstream.client.watching import OnLost

from .both_clients import Connect
from .scripted_socket import Script, ScriptedSocket, closed_with, cut, message, scripted_socket

PATIENCE_SECONDS = 30.0
CREDIT = {"credit": 1}


def no_sleep(seconds: float) -> None:
    assert seconds > 0


def client_of(
    connect: Connect, url: str, *, retries: int = 3, sleep: Callable[[float], None] = no_sleep
) -> Client:
    return connect(url, retries=retries, timeout=10.0, sleep=sleep)


@contextmanager
def watched(
    connect: Connect,
    *scripts: Script,
    sleep: Callable[[float], None] = no_sleep,
    window: int | None = None,
    on_lost: OnLost | None = None,
) -> Iterator[tuple[ScriptedSocket, Watch]]:
    """Yield a server that follows the scripts, and a watch that is connected to it."""
    with (
        scripted_socket(*scripts) as server,
        client_of(connect, server.url, sleep=sleep) as client,
        client.watch("q", window=window, on_lost=on_lost) as watch,
    ):
        yield server, watch


def test_updates_arrive_in_the_order_of_the_messages(connect: Connect) -> None:
    with watched(connect, Script([message("a", "b"), message("c")]), window=3) as (server, watch):
        updates = iter(watch)
        assert [next(updates).key for _ in range(3)] == ["a", "b", "c"]
    assert server.paths == ["/v1/queues/q/socket?window=3"]


def test_a_new_loop_continues_where_the_last_one_stopped(connect: Connect) -> None:
    with watched(connect, Script([message("a", "b", "c"), message("d")])) as (_, watch):
        keys = []
        for _ in range(2):
            for update in watch:
                keys.append(update.key)
                break
        messages = watch.messages()
        keys += [update.key for _ in range(2) for update in next(messages).updates]
    assert keys == ["a", "b", "c", "d"]


def test_closing_a_watch_ends_the_loop_of_another_thread(connect: Connect) -> None:
    with (
        scripted_socket(Script([message("a")])) as server,
        client_of(connect, server.url) as client,
    ):
        watch = client.watch("q")
        keys: list[object] = []
        seen = threading.Event()

        def read() -> None:
            for update in watch:
                keys.append(update.key)
                seen.set()

        thread = threading.Thread(target=read)
        thread.start()
        assert seen.wait(PATIENCE_SECONDS)
        watch.close()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
    assert keys == ["a"]


def test_closing_a_watch_ends_a_loop_that_waits_to_reconnect(connect: Connect) -> None:
    lost = threading.Event()
    with (
        scripted_socket(Script([message("a")], cut)) as server,
        connect(server.url, retries=RetryPolicy(first_delay=1_000.0, longest_delay=1e6)) as client,
    ):
        watch = client.watch("q", on_lost=lambda *_: lost.set())
        thread = threading.Thread(target=lambda: list(watch))
        thread.start()
        assert lost.wait(PATIENCE_SECONDS)
        watch.close()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def test_credit_is_sent_after_a_message_was_consumed_and_not_before(
    connect: Connect,
) -> None:
    with watched(connect, Script([message("a", "b"), message("c")])) as (server, watch):
        updates = iter(watch)
        next(updates)
        next(updates)  # of the first message, too
        assert server.credits.empty()
        assert next(updates).key == "c"
        assert server.await_credit() == CREDIT
        assert server.credits.empty()


def test_a_message_says_whether_it_begins_a_new_picture(connect: Connect) -> None:
    with watched(connect, Script([message("a", reset=True), message("b")])) as (_, watch):
        messages = watch.messages()
        assert [next(messages).is_reset for _ in range(2)] == [True, False]


@pytest.mark.parametrize(
    "end", [cut, closed_with(1001), closed_with(1012)], ids=["cut", "1001", "1012"]
)
def test_a_lost_connection_is_resumed_after_the_last_message(
    connect: Connect, end: Callable[..., None]
) -> None:
    delays: list[float] = []
    lost: list[tuple[Exception, float]] = []
    scripts = (
        Script([message("a", id="r-1"), message("b", id="r-2")], end),
        Script([message("c")]),
    )
    with watched(
        connect,
        *scripts,
        sleep=delays.append,
        on_lost=lambda error, delay: lost.append((error, delay)),
    ) as (server, watch):
        keys = []
        for update in watch:
            keys.append(update.key)
            if update.key == "c":
                break
    assert keys == ["a", "b", "c"]
    assert [delay for _, delay in lost] == delays
    assert len(delays) == 1
    assert server.paths[1].endswith("?last_event_id=r-2")


def test_a_connection_that_the_service_ends_on_purpose_is_not_opened_again(
    connect: Connect,
) -> None:
    script = Script([message("a")], closed_with(1008, "the queue was removed"))
    with watched(connect, script) as (server, watch):
        updates = iter(watch)
        next(updates)
        with pytest.raises(RequestRefusedError, match="the queue was removed"):
            next(updates)
    assert len(server.paths) == 1


def test_an_unreachable_service_is_raised_after_the_last_retry(
    connect: Connect, unused_url: str
) -> None:
    delays: list[float] = []
    with (
        client_of(connect, unused_url, retries=2, sleep=delays.append) as client,
        pytest.raises(ServiceUnreachableError),
        client.watch("q"),
    ):
        pass
    assert len(delays) == 2


def test_leaving_the_block_closes_the_connection(connect: Connect) -> None:
    with (
        scripted_socket(Script([message("a")])) as server,
        client_of(connect, server.url) as client,
    ):
        with client.watch("q") as watch:
            next(iter(watch))
        server.await_close()
        assert list(watch) == []


def test_a_watch_connects_when_its_block_is_entered(connect: Connect) -> None:
    with scripted_socket(Script([])) as server, client_of(connect, server.url) as client:
        watch = client.watch("q")
        assert server.paths == []
        with watch:
            pass
        server.await_close()
        assert len(server.paths) == 1


def test_a_watch_without_a_block_connects_when_it_is_first_used(connect: Connect) -> None:
    with (
        scripted_socket(Script([message("a")])) as server,
        client_of(connect, server.url) as client,
    ):
        watch = client.watch("q")
        assert next(iter(watch)).key == "a"
        watch.close()
        server.await_close()


def test_a_watch_sends_the_headers_of_the_client(connect: Connect) -> None:
    seen = []

    def note(connection: object) -> None:
        seen.append(connection.request.headers["Authorization"])  # type: ignore[attr-defined]

    with (
        scripted_socket(Script([message("a")], note)) as server,
        connect(server.url, headers={"Authorization": "Bearer t"}) as client,
        client.watch("q") as watch,
    ):
        next(iter(watch))
        watch.close()
        server.await_close()
    assert seen == ["Bearer t"]


def test_an_invalid_name_is_refused_at_once(connect: Connect) -> None:
    with client_of(connect, "http://a") as client, pytest.raises(ParameterError, match="name"):
        client.watch("../x")


# With asyncio only


def test_cancelling_a_wait_loses_no_update() -> None:
    async def watch(server: ScriptedSocket, release: threading.Event) -> list[object]:
        async with AsyncClient(server.url) as client, client.watch("q") as watch:
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


def test_cancelling_a_wait_before_the_connection_is_open_loses_no_update() -> None:
    async def watch(server: ScriptedSocket) -> object:
        async with AsyncClient(server.url) as client:
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


def test_a_sleep_lasts_for_its_time_or_until_the_event() -> None:
    async def run() -> None:
        closed = asyncio.Event()
        await sleep_unless(closed, 0.001)
        sleeping = asyncio.create_task(sleep_unless(closed, 1_000.0))
        await asyncio.sleep(0)
        closed.set()
        await asyncio.wait_for(sleeping, 30.0)
        await sleep_unless(closed, 1_000.0)

    asyncio.run(run())
