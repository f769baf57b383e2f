"""Small buffers for one connection, so that what was sent and not read is little, and new.

Event streams have no credit: the server cannot know what was read, only what it could get rid of.
So there must be little room on the way. uvicorn's part is 64 kB, and the kernel's some megabytes;
here a connection gets next to nothing of both. The room at the client is the client's.

An application does not see its connection, so the protocol class puts it into the scope of each
request, under an extension of ours.
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
"""How much may be in the kernel that is not on its way yet."""
SEND_BUFFER_BYTES: Final = 16_384
"""How much may be in the kernel at all, where it cannot bound what is not on its way."""


class ServiceHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which lets the application see its connection."""

    def on_message_begin(self) -> None:
        """Show the connection to the request that begins."""
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: {"transport": self.transport}}


def shrink_buffers(scope: Scope) -> asyncio.WriteTransport | None:
    """Leave next to no room for what is sent on the connection of a request, and return it.

    It must not be used for another request. None if the server does not show its connections, or
    if the client has gone already.
    """
    extension = scope.get("extensions", {}).get(EXTENSION)
    if extension is None:
        return None
    transport: asyncio.WriteTransport = extension["transport"]
    if transport.is_closing():
        return None
    # Any byte that the kernel did not take keeps whoever sends waiting.
    transport.set_write_buffer_limits(high=0)
    connection = tcp_socket_of(transport)
    if connection is not None:
        with contextlib.suppress(OSError):
            _bound_unsent(connection)
    return transport


def tcp_socket_of(transport: asyncio.WriteTransport) -> socket.socket | None:
    """Return the socket of a connection by TCP, None if it is by other means."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    is_tcp = connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6)
    return connection if is_tcp else None


def _bound_unsent(connection: socket.socket) -> None:
    option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
    if option is None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    else:
        connection.setsockopt(socket.IPPROTO_TCP, option, UNSENT_BYTES)
