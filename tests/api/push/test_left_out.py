"""Readers of an append queue that are too slow are told how many updates they did not get."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from urllib.request import urlopen

import msgspec
import pytest
import requests

from tests.server_process import RunningServer, running
from upstream.client import AsyncClient, Client, WatchMessage
from upstream.push_limits import MOST_APPENDED

PATIENCE = 30.0
UPDATES = 2 * MOST_APPENDED
KEYS = 100


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running() as server:
        yield server


@pytest.fixture
def queue(server: RunningServer, request: pytest.FixtureRequest) -> str:
    """Return the name of an append queue, with a stream of its own."""
    name = str(request.node.callspec.id)
    address = f"{server.url}/v1/queues/{name}"
    requests.put(address, json={"kind": "append"}, timeout=PATIENCE).raise_for_status()
    return name


def put_too_many(server: RunningServer, queue: str) -> None:
    """Put more updates at once than wait for any reader."""
    rows = [(f"K{number % KEYS}", number, number) for number in range(UPDATES)]
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
