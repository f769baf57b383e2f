"""Watches, blocking and for asyncio: newest values over a websocket that reconnects when lost.

`Watching` decides where to connect, when, and what the messages mean. The watches move the bytes.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Self, TypeVar

from websockets.asyncio.client import ClientConnection as AsyncClientConnection
from websockets.asyncio.client import connect as async_connect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from .answers import ReceivedUpdate, WatchMessage
from .errors import ServiceError
from .watching import CREDIT, LOST, Watching

T = TypeVar("T")


class Watch:
    """An iterator over the updates that the service pushes; made by `Client.watch`.

    Asking for the next update tells the service that those before it were consumed, so it may send
    more. A slow loop therefore gets fewer updates, and newer ones. A new loop continues where the
    previous one stopped. Entering the `with` block connects, so that nothing is missed from then
    on. Leaving it closes the connection.
    """

    def __init__(
        self, watching: Watching, *, sleep: Callable[[float], object] | None = None
    ) -> None:
        self._watching = watching
        self._socket: ClientConnection | None = None
        self._closed = threading.Event()
        self._sleep = sleep or self._closed.wait

    def __iter__(self) -> Iterator[ReceivedUpdate]:
        return self

    def __next__(self) -> ReceivedUpdate:
        while (update := self._watching.next_update()) is None:
            message = self._receive()
            if message is None:
                raise StopIteration
            self._watching.keep(message)
        return update

    def messages(self) -> Iterator[WatchMessage]:
        """Iterate over whole messages, which say when a new picture begins (`is_reset`).

        If updates of a message were already read one by one, the first message has the rest.
        """
        while (message := self._watching.rest() or self._receive()) is not None:
            yield message

    @property
    def superseded(self) -> int:
        """How many updates newer ones replaced so far: the sum of `WatchMessage.superseded`."""
        return self._watching.superseded

    def close(self) -> None:
        """Close the connection; loops over this watch end, also in other threads."""
        self._closed.set()
        self._watching.rest()
        self._disconnect()

    def __enter__(self) -> Self:
        self._with_connection(self._connected)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self) -> WatchMessage | None:
        """Return the next message; None once the watch is closed."""
        return self._with_connection(self._receive_once)

    def _with_connection(self, step: Callable[[], T]) -> T | None:
        """Return the result of a step, repeated if the connection is lost; None if closed."""
        try:
            while not self._closed.is_set():
                try:
                    return step()
                except LOST as error:
                    self._disconnect()
                    if not self._closed.is_set():
                        self._sleep(self._watching.after_loss(error))
        except ServiceError:
            self.close()
            raise
        return None

    def _receive_once(self) -> WatchMessage:
        socket = self._connected()
        if self._watching.takes_credit():
            with suppress(ConnectionClosed):  # there may be more to read
                socket.send(CREDIT)
        return self._watching.received(socket.recv())

    def _connected(self) -> ClientConnection:
        socket = self._socket
        if socket is None:
            opened = connect(self._watching.address(), **self._watching.connect_options())
            socket = self._socket = opened.__enter__()  # `_disconnect` closes it
            self._watching.connected()
        if self._closed.is_set():  # during the handshake
            socket.close()
        return socket

    def _disconnect(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()


class AsyncWatch:
    """An iterator over the updates that the service pushes; made by `AsyncClient.watch`.

    Asking for the next update tells the service that those before it were consumed, so it may send
    more. A slow loop therefore gets fewer updates, and newer ones. A new loop continues where the
    previous one stopped, and cancelling a wait loses nothing. Entering the `async with` block
    connects, so that nothing is missed from then on. Leaving it closes the connection.
    """

    def __init__(
        self, watching: Watching, *, sleep: Callable[[float], Awaitable[object]] | None = None
    ) -> None:
        self._watching = watching
        self._socket: AsyncClientConnection | None = None
        self._closed = asyncio.Event()
        self._sleep = sleep or partial(sleep_unless, self._closed)

    def __aiter__(self) -> AsyncIterator[ReceivedUpdate]:
        return self

    async def __anext__(self) -> ReceivedUpdate:
        while (update := self._watching.next_update()) is None:
            message = await self._receive()
            if message is None:
                raise StopAsyncIteration
            self._watching.keep(message)
        return update

    def messages(self) -> AsyncIterator[WatchMessage]:
        """Iterate over whole messages, which say when a new picture begins (`is_reset`).

        If updates of a message were already read one by one, the first message has the rest.
        """
        return _Messages(self._next_message)

    @property
    def superseded(self) -> int:
        """How many updates newer ones replaced so far: the sum of `WatchMessage.superseded`."""
        return self._watching.superseded

    async def close(self) -> None:
        """Close the connection; loops over this watch end, also in other tasks."""
        self._closed.set()
        self._watching.rest()
        await self._disconnect()

    async def __aenter__(self) -> Self:
        await self._with_connection(self._connected)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _next_message(self) -> WatchMessage | None:
        return self._watching.rest() or await self._receive()

    async def _receive(self) -> WatchMessage | None:
        """Return the next message; None once the watch is closed."""
        return await self._with_connection(self._receive_once)

    async def _with_connection(self, step: Callable[[], Awaitable[T]]) -> T | None:
        """Return the result of a step, repeated if the connection is lost; None if closed."""
        try:
            while not self._closed.is_set():
                try:
                    return await step()
                except LOST as error:
                    await self._disconnect()
                    if not self._closed.is_set():
                        await self._sleep(self._watching.after_loss(error))
        except ServiceError:
            await self.close()
            raise
        return None

    async def _receive_once(self) -> WatchMessage:
        socket = await self._connected()
        if self._watching.takes_credit():
            with suppress(ConnectionClosed):  # there may be more to read
                await socket.send(CREDIT)
        return self._watching.received(await socket.recv())

    async def _connected(self) -> AsyncClientConnection:
        socket = self._socket
        if socket is None:
            socket = self._socket = await async_connect(
                self._watching.address(), **self._watching.connect_options()
            )
            self._watching.connected()
        if self._closed.is_set():  # during the handshake
            await socket.close()
        return socket

    async def _disconnect(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()


async def sleep_unless(closed: asyncio.Event, seconds: float) -> None:
    """Sleep for `seconds`, or until the event is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await closed.wait()


class _Messages(AsyncIterator[WatchMessage]):
    """Iterates until there is None; a generator would end if a wait were cancelled."""

    def __init__(self, following: Callable[[], Awaitable[WatchMessage | None]]) -> None:
        self._following = following

    async def __anext__(self) -> WatchMessage:
        message = await self._following()
        if message is None:
            raise StopAsyncIteration
        return message
