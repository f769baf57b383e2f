"""A watch that blocks: newest values as they come, over a websocket that comes back when lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Self, TypeVar

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from upstream.push_limits import MOST_WINDOW

from .answers import ReceivedUpdate, WatchMessage
from .errors import ServiceError
from .sending import Connection
from .watching import CLOSE_SECONDS, CREDIT, LOST, OnLost, Watching

T = TypeVar("T")


class Watch:
    """Iterate over the updates that the service pushes; made by `Client.watch`.

    Asking for the next one says that those before were consumed, which lets the service send more.
    So a slow loop gets fewer updates, and newer ones. A loop that was left is gone on with by the
    next one. Entering the `with` block connects, so that nothing is missed from then on, and
    leaving it closes the connection.
    """

    def __init__(
        self,
        watching: Watching,
        connection: Connection,
        *,
        sleep: Callable[[float], object] | None,
        on_lost: OnLost | None,
    ) -> None:
        self._watching = watching
        self._connection = connection
        self._on_lost = on_lost
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
        """Iterate over whole messages, which tell when a new picture begins (`is_reset`).

        The first is what is left of one whose updates were iterated over one by one.
        """
        while (message := self._watching.rest() or self._receive()) is not None:
            yield message

    @property
    def superseded(self) -> int:
        """How many updates were left out so far, as `WatchMessage.superseded` tells of each."""
        return self._watching.superseded

    def close(self) -> None:
        """Close the connection; iterating ends, in other threads as well."""
        self._closed.set()
        self._watching.rest()
        self._drop_connection()

    def __enter__(self) -> Self:
        self._until_it_lasts(self._connected)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self) -> WatchMessage | None:
        """Return the next message, None once the watch is closed."""
        return self._until_it_lasts(self._receive_once)

    def _until_it_lasts(self, step: Callable[[], T]) -> T | None:
        """Do what needs a connection, again when it was lost meanwhile; None if it was closed."""
        while not self._closed.is_set():
            try:
                return step()
            except LOST as error:
                self._drop_connection()
                if not self._closed.is_set():
                    self._come_back_later(error)
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
            entered = connect(
                self._watching.address(),
                additional_headers=self._connection.headers,
                compression=None,  # it would cost the service more memory than all else
                open_timeout=self._connection.timeout,
                close_timeout=CLOSE_SECONDS,
                max_size=None,
                max_queue=MOST_WINDOW + 1,
            )
            socket = self._socket = entered.__enter__()  # and left by closing it
            self._watching.connected()
        if self._closed.is_set():  # while it was made
            socket.close()
        return socket

    def _drop_connection(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()

    def _come_back_later(self, error: Exception) -> None:
        try:
            delay = self._watching.after_loss(error)
        except ServiceError:
            self._closed.set()
            raise
        if self._on_lost is not None:
            self._on_lost(self._watching.meaning(error), delay)
        self._sleep(delay)
