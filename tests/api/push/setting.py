"""A service with a clock of the test's own, and connections to it without a network."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from api.definitions import QueueDefinition, StreamDefinition
from api.entries import QueueEntry
from api.push.asgi import Message
from api.push.events import serve_events
from api.push.selection import Selection
from api.push.socket import serve_socket
from api.push.subscription import PushMessage, Subscription, Transport
from api.push.turns import Turn, Turns
from api.service import Service
from api.settings import Settings
from upstream import Key
from upstream.clock import Clock

PATIENCE = 10.0
"""How long a test waits for what must come."""


def make_service(clock: Clock | None = None, **settings: Any) -> Service:
    """Return a service with this clock, or with the system's."""
    with pytest.MonkeyPatch.context() as patch:
        if clock is not None:
            patch.setattr("api.service.SystemClock", lambda: clock)
        return Service(Settings(demo=False, **settings))


def define(
    service: Service, name: str = "q", *, retain: bool = True, **definition: Any
) -> QueueEntry:
    """Define a queue with a stream of its name."""
    service.define_stream(name, StreamDefinition(retain=retain))
    return service.define_queue(name, QueueDefinition(**definition))[0]


def put(feed: QueueEntry, **values: object) -> None:
    """Put updates into the stream of a queue, in this order."""
    for key, value in values.items():
        feed.stream.take_in_one(key, b"%a" % value)


def subscribe(
    feed: QueueEntry, query: str = "", transport: Transport = "websocket"
) -> Subscription:
    """Return a subscription that was asked for by a query."""
    return Subscription(feed, Selection.parse(query.encode()), transport)


def decoded(message: PushMessage | None) -> Any:
    """Return a message as a client sees it."""
    assert message is not None
    return msgspec.json.decode(message.data)


def values_of(message: Any) -> dict[Any, Any]:
    """Return the keys and values of a decoded message."""
    return {as_key(update["key"]): update["value"] for update in message["updates"]}


def as_key(key: Any) -> Key:
    """Return a key as the service has it."""
    return tuple(key) if isinstance(key, list) else key


async def settle() -> None:
    """Let everything happen that does not wait for time or for the network."""
    for _ in range(100):
        await asyncio.sleep(0)


def assert_nothing_is_left(feed: QueueEntry) -> None:
    """Assert that no connection to a queue is open, and that no task goes on."""
    assert not feed.stream.subscribers
    assert feed.stream.stream.statistics().queues == 0
    assert len(feed.stream.idle) == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def seconds_of_shutdown(service: Service) -> float:
    """Begin to stop the service, and return how long its connections take to end."""
    started = time.monotonic()
    service.begin_shutdown()
    while len(asyncio.all_tasks()) > 1:
        await asyncio.sleep(0.01)
    return time.monotonic() - started


class ScarceTurns(Turns):
    """Turns that are not given any more while `has_more` is false."""

    def __init__(self) -> None:
        super().__init__()
        self.has_more = True

    def ask(self, *, backlog: int = 0) -> Turn:
        """Return what is done when it is a caller's turn, which may be never."""
        if self.has_more:
            return super().ask(backlog=backlog)
        return asyncio.get_running_loop().create_future()


class Connection:
    """A client's side of an ASGI connection."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.received: asyncio.Queue[Message] = asyncio.Queue()
        self.room = asyncio.Event()
        self.room.set()
        self.is_lost = False

    async def send(self, message: Message) -> None:
        """Take what the server sends, when there is room."""
        await self.room.wait()
        if self.is_lost:
            raise ConnectionResetError
        self.sent.put_nowait(message)

    async def receive(self) -> Message:
        """Hand the server what was said."""
        return await self.received.get()

    async def next(self) -> Message:
        """Return what the server sends next."""
        async with asyncio.timeout(PATIENCE):
            return await self.sent.get()

    async def message(self) -> Any:
        """Return the next message of a websocket."""
        sent = await self.next()
        assert sent["type"] == "websocket.send", sent
        return msgspec.json.decode(sent["text"])

    def say(self, text: str) -> None:
        """Send a text over the websocket."""
        self.received.put_nowait({"type": "websocket.receive", "text": text})

    def answer(self, messages: int = 1) -> None:
        """Answer messages."""
        self.say(f'{{"credit":{messages}}}')

    async def waiting(self) -> list[Message]:
        """Return what the server has sent by now, when it has nothing more to do."""
        await settle()
        return [self.sent.get_nowait() for _ in range(self.sent.qsize())]


def scope_of(
    kind: str, query: str = "", headers: Iterable[tuple[bytes, bytes]] = ()
) -> dict[str, Any]:
    """Return what ASGI says of a request."""
    return {
        "type": kind,
        "method": "GET",
        "query_string": query.encode(),
        "headers": list(headers),
        "extensions": {"websocket.http.response": {}} if kind == "websocket" else {},
    }


@asynccontextmanager
async def websocket(
    service: Service, query: str = "", name: str = "q"
) -> AsyncIterator[Connection]:
    """Connect to a queue by websocket, and hang up at the end."""
    connection = Connection()
    scope = scope_of("websocket", query)
    connection.received.put_nowait({"type": "websocket.connect"})
    served = asyncio.create_task(
        serve_socket(service, name, scope, connection.receive, connection.send)
    )
    try:
        assert await connection.next() == {"type": "websocket.accept"}
        yield connection
    finally:
        connection.room.set()
        connection.received.put_nowait({"type": "websocket.disconnect", "code": 1001})
        async with asyncio.timeout(PATIENCE):
            await served


@asynccontextmanager
async def event_stream(
    service: Service,
    query: str = "",
    *,
    headers: Iterable[tuple[bytes, bytes]] = (),
    name: str = "q",
) -> AsyncIterator[Connection]:
    """Read the events of a queue, and hang up at the end."""
    connection = Connection()
    connection.received.put_nowait({"type": "http.request", "body": b"", "more_body": False})
    served = asyncio.create_task(
        serve_events(
            service, name, scope_of("http", query, headers), connection.receive, connection.send
        )
    )
    try:
        yield connection
    finally:
        connection.room.set()
        connection.received.put_nowait({"type": "http.disconnect"})
        async with asyncio.timeout(PATIENCE):
            assert await served == 200
