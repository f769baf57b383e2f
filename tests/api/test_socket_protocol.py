"""Websockets take little from their clients, and keep little for them."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from api import socket_protocol
from api.http import Message, Receive, Scope, Send
from api.socket_protocol import MOST_MESSAGE_BYTES, SocketProtocol
from tests.api.started_server import port_of, started

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
MASK = bytes(4)
PING = b"\x89\xfd" + MASK + b"x" * 125


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer each message with what was received."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        answer: Message = {"type": "websocket.send", "text": repr(message.get("bytes"))}
        await send(answer)


def run(scenario: Callable[[uvicorn.Server, int], Awaitable[None]]) -> None:
    """Run a scenario with a server, and the port that it listens on."""

    async def bounded() -> None:
        options: dict[str, Any] = {"ws": SocketProtocol, "ws_max_size": MOST_MESSAGE_BYTES}
        async with (
            started(application, timeout_graceful_shutdown=1, **options) as server,
            asyncio.timeout(30),
        ):
            await scenario(server, port_of(server))

    asyncio.run(bounded())


def test_text_is_handed_on_as_it_came(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(_server: uvicorn.Server, port: int) -> None:
        async with connect(f"ws://127.0.0.1:{port}", proxy=None) as client:
            await client.send("é")
            assert await client.recv() == repr("é".encode())
            await client.send(b"\xff", text=True)
            assert await client.recv() == repr(b"\xff")

    run(scenario)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_long_message_ends_the_websocket() -> None:
    async def scenario(_server: uvicorn.Server, port: int) -> None:
        async with connect(f"ws://127.0.0.1:{port}", proxy=None) as client:
            await client.send("x" * MOST_MESSAGE_BYTES)
            assert await client.recv()
            await client.send("x" * (MOST_MESSAGE_BYTES + 1))
            with pytest.raises(ConnectionClosedError) as ended:
                await client.recv()
            assert ended.value.rcvd is not None
            assert ended.value.rcvd.code == 1009

    run(scenario)


def test_pings_whose_answers_are_not_read_end_the_websocket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket_protocol, "MOST_UNREAD_BYTES", 10_000)

    async def scenario(server: uvicorn.Server, port: int) -> None:
        loop = asyncio.get_running_loop()
        with closing(socket.socket()) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.setblocking(False)
            await loop.sock_connect(client, ("127.0.0.1", port))
            await loop.sock_sendall(client, HANDSHAKE)
            assert await loop.sock_recv(client, 12) == b"HTTP/1.1 101"
            with suppress(ConnectionError):
                while True:
                    await loop.sock_sendall(client, PING * 1_000)
        while server.server_state.connections:
            await asyncio.sleep(0.01)

    run(scenario)
