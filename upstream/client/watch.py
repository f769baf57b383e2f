"""A watch that blocks: newest values as they come, over a websocket that comes back when lost."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from .answers import ReceivedUpdate, WatchMessage
from .sending import Connection
from .watching import CLOSE_SECONDS, CREDIT, LOST, OnLost, Watching


class Watch:
    """Iterate over the updates that the service pushes; made by `Client.watch`.

    Asking for the next one says that those before were consumed, which lets the service send more.
    So a slow loop gets fewer updates, and newer ones. Entering the `with` block connects, so that
    nothing is missed from then on, and leaving it closes the connection.
    """

    def __init__(
        self,
        watching: Watching,
        connection: Connection,
        *,
        sleep: Callable[[float], None],
        on_lost: OnLost | None,
    ) -> None:
        self._watching = watching
        self._connection = connection
        self._sleep = sleep
        self._on_lost = on_lost
        self._events = self._connect_and_receive()

    def __iter__(self) -> Iterator[ReceivedUpdate]:
        for message in self.messages():
            yield from message.updates

    def messages(self) -> Iterator[WatchMessage]:
        """Iterate over whole messages, which tell when a new picture begins (`is_reset`)."""
        return (event for event in self._events if event is not None)

    def close(self) -> None:
        """Close the connection; iterating ends."""
        self._events.close()

    def __enter__(self) -> Self:
        next(self._events)  # it is connected then
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect_and_receive(self) -> Generator[WatchMessage | None, None, None]:
        """Yield the messages, and None when a connection was made."""
        while True:
            try:
                with connect(
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
                        yield self._watching.received(socket.recv())
                        with suppress(ConnectionClosed):  # there may be more to read
                            socket.send(CREDIT)
            except LOST as error:
                self._come_back_later(error)

    def _come_back_later(self, error: Exception) -> None:
        delay = self._watching.after_loss(error)
        if self._on_lost is not None:
            self._on_lost(error, delay)
        self._sleep(delay)
