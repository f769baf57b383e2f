"""A watch for asyncio: newest values as they come, over a websocket that comes back when lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Self, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from upstream.push_limits import MOST_WINDOW

from .answers import ReceivedUpdate, WatchMessage
from .errors import ServiceError
from .sending import Connection
from .waiting import sleep_unless
from .watching import CLOSE_SECONDS, CREDIT, LOST, OnLost, Watching

T = TypeVar("T")


class AsyncWatch:
    """Iterate over the updates that the service pushes; made by `AsyncClient.watch`.

    Asking for the next one says that those before were consumed, which lets the service send more.
    So a slow loop gets fewer updates, and newer ones. A loop that was left is gone on with by the
    next one, and a wait that was cancelled has lost nothing. Entering the `async with` block
    connects, so that nothing is missed from then on, and leaving it closes the connection.
    """

    def __init__(
        self,
        watching: Watching,
        connection: Connection,
        *,
        sleep: Callable[[float], Awaitable[object]] | None,
        on_lost: OnLost | None,
    ) -> None:
        self._watching = watching
        self._connection = connection
        self._on_lost = on_lost
        self._socket: ClientConnection | None = None
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
        """Iterate over whole messages, which tell when a new picture begins (`is_reset`).

        The first is what is left of one whose updates were iterated over one by one.
        """
        return _Messages(self._next_message)

    @property
    def superseded(self) -> int:
        """How many updates were left out so far, as `WatchMessage.superseded` tells of each."""
        return self._watching.superseded

    async def close(self) -> None:
        """Close the connection; iterating ends, in other tasks as well."""
        self._closed.set()
        self._watching.rest()
        await self._drop_connection()

    async def __aenter__(self) -> Self:
        await self._until_it_lasts(self._connected)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _next_message(self) -> WatchMessage | None:
        return self._watching.rest() or await self._receive()

    async def _receive(self) -> WatchMessage | None:
        """Return the next message, None once the watch is closed."""
        return await self._until_it_lasts(self._receive_once)

    async def _until_it_lasts(self, step: Callable[[], Awaitable[T]]) -> T | None:
        """Do what needs a connection, again when it was lost meanwhile; None if it was closed."""
        while not self._closed.is_set():
            try:
                return await step()
            except LOST as error:
                await self._drop_connection()
                if not self._closed.is_set():
                    await self._come_back_later(error)
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

    async def _connected(self) -> ClientConnection:
        socket = self._socket
        if socket is None:
            socket = self._socket = await connect(
                self._watching.address(),
                additional_headers=self._connection.headers,
                compression=None,  # it would cost the service more memory than all else
                open_timeout=self._connection.timeout,
                close_timeout=CLOSE_SECONDS,
                max_size=None,
                max_queue=MOST_WINDOW + 1,
            )
            self._watching.connected()
        if self._closed.is_set():  # while it was made
            await socket.close()
        return socket

    async def _drop_connection(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()

    async def _come_back_later(self, error: Exception) -> None:
        try:
            delay = self._watching.after_loss(error)
        except ServiceError:
            self._closed.set()
            raise
        if self._on_lost is not None:
            self._on_lost(self._watching.meaning(error), delay)
        await self._sleep(delay)


class _Messages(AsyncIterator[WatchMessage]):
    """Iterates until there is None; no generator, which a cancelled wait would end."""

    def __init__(self, following: Callable[[], Awaitable[WatchMessage | None]]) -> None:
        self._following = following

    async def __anext__(self) -> WatchMessage:
        message = await self._following()
        if message is None:
            raise StopAsyncIteration
        return message
