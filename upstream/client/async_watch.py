"""A watch for asyncio: newest values as they come, over a websocket that comes back when lost."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Self

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from .answers import ReceivedUpdate, WatchMessage
from .sending import Connection
from .watching import CLOSE_SECONDS, CREDIT, LOST, OnLost, Watching


class AsyncWatch:
    """Iterate over the updates that the service pushes; made by `AsyncClient.watch`.

    Asking for the next one says that those before were consumed, which lets the service send more.
    So a slow loop gets fewer updates, and newer ones. Entering the `async with` block connects, so
    that nothing is missed from then on, and leaving it closes the connection.
    """

    def __init__(
        self,
        watching: Watching,
        connection: Connection,
        *,
        sleep: Callable[[float], Awaitable[None]],
        on_lost: OnLost | None,
    ) -> None:
        self._watching = watching
        self._connection = connection
        self._sleep = sleep
        self._on_lost = on_lost
        self._events = self._connect_and_receive()

    async def __aiter__(self) -> AsyncIterator[ReceivedUpdate]:
        async for message in self.messages():
            for update in message.updates:
                yield update

    def messages(self) -> AsyncIterator[WatchMessage]:
        """Iterate over whole messages, which tell when a new picture begins (`is_reset`)."""
        return (event async for event in self._events if event is not None)

    async def close(self) -> None:
        """Close the connection; iterating ends."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        await anext(self._events)  # it is connected then
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _connect_and_receive(self) -> AsyncGenerator[WatchMessage | None, None]:
        """Yield the messages, and None when a connection was made."""
        while True:
            try:
                async with connect(
                    self._watching.address(),
                    additional_headers=self._connection.headers,
                    compression=None,  # it would cost the service more memory than all else
                    open_timeout=self._connection.timeout,
                    close_timeout=CLOSE_SECONDS,
                    max_size=None,
                    max_queue=self._watching.window + 1,
                ) as socket:
                    self._watching.connected()
                    yield None
                    while True:
                        yield self._watching.received(await socket.recv())
                        with suppress(ConnectionClosed):  # there may be more to read
                            await socket.send(CREDIT)
            except LOST as error:
                await self._come_back_later(error)

    async def _come_back_later(self, error: Exception) -> None:
        delay = self._watching.after_loss(error)
        if self._on_lost is not None:
            self._on_lost(error, delay)
        await self._sleep(delay)
