"""Small buffers for one connection, so that what was sent and not read is little, and new.

Event streams have no credit: the server cannot know what was read, only what has left. So there
must be little room on the way. uvicorn buffers 64 kB, and the kernel some megabytes. Here a
connection gets almost nothing of both. The buffers of the client are its own.

An application does not see its connection. So the protocol class puts it into the scope of each
request, under an extension.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .asgi import Scope

EXTENSION: Final = "upstream.transport"
UNSENT_BYTES: Final = 2_048
"""The most bytes in the kernel that are not on their way yet."""
SEND_BUFFER_BYTES: Final = 16_384
"""The most bytes in the kernel at all, where it cannot limit unsent bytes."""


class ServiceHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which lets the application see its connection."""

    def on_message_begin(self) -> None:
        """Show the connection to the request that begins."""
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: {"transport": self.transport}}


def shrink_buffers(scope: Scope) -> asyncio.WriteTransport | None:
    """Make the buffers of a request's connection as small as possible, and return it.

    It must not be used for another request. Returns None if the server does not show its
    connections, or if the client has disconnected.
    """
    extension = scope.get("extensions", {}).get(EXTENSION)
    if extension is None:
        return None
    transport: asyncio.WriteTransport = extension["transport"]
    if transport.is_closing():
        return None
    # Any byte that the kernel did not take makes the sender wait.
    transport.set_write_buffer_limits(high=0)
    connection = tcp_socket_of(transport)
    if connection is not None:
        with contextlib.suppress(OSError):
            _bound_unsent(connection)
    return transport


def tcp_socket_of(transport: asyncio.WriteTransport) -> socket.socket | None:
    """Return the socket of a TCP connection, or None for any other connection."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    is_tcp = connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6)
    return connection if is_tcp else None


def _bound_unsent(connection: socket.socket) -> None:
    option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
    if option is None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    else:
        connection.setsockopt(socket.IPPROTO_TCP, option, UNSENT_BYTES)
