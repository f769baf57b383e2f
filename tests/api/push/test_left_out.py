"""A client too slow for an append queue learns how many updates it missed, or is closed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from urllib.request import urlopen

import msgspec
import pytest
import requests
import websockets
from websockets.sync.client import ClientConnection, connect

from api.push.subscription import Ending
from tests.server_process import RunningServer
from upstream.client import AsyncClient, Client, WatchMessage
from upstream.push_limits import MOST_APPENDED

PATIENCE = 30.0
UPDATES = 2 * MOST_APPENDED
KEYS = 100


@pytest.fixture
def queue(server: RunningServer, request: pytest.FixtureRequest) -> str:
    """Return the name of an append queue, with a stream of its own."""
    name = re.sub(r"\W", "-", request.node.name)[:100].strip("-")
    address = f"{server.url}/v1/queues/{name}"
    requests.put(address, json={"kind": "append"}, timeout=PATIENCE).raise_for_status()
    return name


def put_too_many(server: RunningServer, queue: str) -> None:
    """Put more updates at once than wait for any reader."""
    rows = [(f"K{number % KEYS}", number, number) for number in range(UPDATES)]
    put_rows(server, queue, rows)


def put_rows(server: RunningServer, queue: str, rows: list[tuple[str, int, int]]) -> None:
    address = f"{server.url}/v1/streams/{queue}/updates"
    requests.post(address, json=rows, timeout=PATIENCE).raise_for_status()


class Reader:
    """Reads until all updates that were put are received or told to be left out."""

    def __init__(self) -> None:
        self.received = self.superseded = 0
        self.newest: dict[object, object] = {}

    def is_done_with(self, message: WatchMessage) -> bool:
        """Take a message; return whether there is nothing more to come."""
        self.superseded += message.superseded
        self.received += len(message.updates)
        self.newest |= {update.key: update.value for update in message.updates}
        assert self.received + self.superseded <= UPDATES
        return self.received + self.superseded == UPDATES


def read_with_the_client(server: RunningServer, queue: str) -> Reader:
    reader = Reader()
    with Client(server.url) as client, client.watch(queue) as watch:
        put_too_many(server, queue)
        for message in watch.messages():
            if reader.is_done_with(message):
                break
        assert watch.superseded == reader.superseded
    return reader


def read_with_the_async_client(server: RunningServer, queue: str) -> Reader:
    async def scenario() -> Reader:
        reader = Reader()
        async with AsyncClient(server.url) as client, client.watch(queue) as watch:
            await asyncio.to_thread(put_too_many, server, queue)
            async for message in watch.messages():
                if reader.is_done_with(message):
                    break
            assert watch.superseded == reader.superseded
        return reader

    return asyncio.run(scenario())


def read_events(server: RunningServer, queue: str) -> Reader:
    reader = Reader()
    address = f"{server.url}/v1/queues/{queue}/events"
    with urlopen(address, timeout=PATIENCE) as lines:  # noqa: S310
        next(lines)  # the connection is there
        put_too_many(server, queue)
        for line in lines:
            name, _, data = line.partition(b": ")
            if name == b"data" and reader.is_done_with(
                msgspec.json.decode(data, type=WatchMessage)
            ):
                break
    return reader


@pytest.mark.parametrize("read", [read_with_the_client, read_with_the_async_client, read_events])
def test_every_update_is_received_or_counted_as_left_out(
    server: RunningServer, queue: str, read: Callable[[RunningServer, str], Reader]
) -> None:
    reader = read(server, queue)
    assert reader.superseded > 0
    newest = {f"K{number % KEYS}": number for number in range(UPDATES - KEYS, UPDATES)}
    assert reader.newest == newest


# With `conflate=never` the connection ends instead


def read_until_closed(socket: ClientConnection, values: list[object]) -> None:
    """Note the values that are sent to a client that answers nothing."""
    for text in socket:
        message = msgspec.json.decode(text, type=WatchMessage)
        values += [update.value for update in message.updates]


def test_a_websocket_that_must_not_conflate_is_closed_with_the_reason(
    server: RunningServer, queue: str
) -> None:
    address = f"{server.url}/v1/queues/{queue}"
    url = f"{address.replace('http', 'ws', 1)}/socket?conflate=never"
    with connect(url, proxy=None) as socket:
        put_too_many(server, queue)
        values: list[object] = []
        with pytest.raises(websockets.ConnectionClosedError) as closed:
            read_until_closed(socket, values)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
    assert closed.value.rcvd.reason == Ending.FELL_BEHIND.value
    assert values == list(range(len(values)))


def test_an_event_stream_that_must_not_conflate_ends_with_the_reason(
    server: RunningServer, queue: str
) -> None:
    address = f"{server.url}/v1/queues/{queue}"
    with urlopen(f"{address}/events?conflate=never", timeout=PATIENCE) as lines:  # noqa: S310
        next(lines)  # the connection is there
        put_too_many(server, queue)
        events = lines.read().split(b"\n\n")
    *_, last, end = events
    assert end == b""
    name_line, _, data = last.strip().partition(b"\ndata: ")
    assert name_line == b"event: end"
    assert msgspec.json.decode(data) == {"reason": Ending.FELL_BEHIND.value}


@pytest.mark.parametrize("query", ["", "?conflate=never"])
def test_a_reader_that_keeps_up_gets_every_update(
    server: RunningServer, queue: str, query: str
) -> None:
    address = f"{server.url}/v1/queues/{queue}"
    url = f"{address.replace('http', 'ws', 1)}/socket{query}"
    values: list[object] = []
    with connect(url, proxy=None) as socket:
        for first in range(0, UPDATES, MOST_APPENDED // 2):
            rows = [(f"K{number % KEYS}", number, number) for number in range(first, first + 5_000)]
            put_rows(server, queue, rows)
            while len(values) < first + 5_000:
                message = msgspec.json.decode(socket.recv(timeout=PATIENCE), type=WatchMessage)
                values += [update.value for update in message.updates]
                socket.send('{"credit": 1}')
    assert values == list(range(UPDATES))
