"""A client that stalls loses its connection. A client that is only slow gets everything."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from api import protocols
from api.http import read_body
from api.protocols import (
    LATE,
    MALFORMED,
    MOST_MESSAGE_BYTES,
    TOO_LONG,
    PatientHttpProtocol,
    SocketProtocol,
    patient,
)
from api.push.asgi import Message, Receive, Scope, Send
from api.push.small_buffers import shrink_buffers
from tests.api.raw_client import HANDSHAKE
from tests.api.started_server import port_of, started

GET = b"GET / HTTP/1.1\r\nhost: x\r\n"
POST = b"POST / HTTP/1.1\r\nhost: x\r\n"
SHORT = 0.2
LONG = 30.0
READ_SECONDS = 2.0
BIG = 8 << 20


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer how long the body was, or with many bytes if that is what is asked for."""
    body = b"%d" % len(await read_body(scope, receive, BIG))
    if scope["path"] == "/big":
        shrink_buffers(scope)  # else the kernel takes some megabytes, and then nothing for long
        body = bytes(BIG)
    length = (b"content-length", b"%d" % len(body))
    start: Message = {"type": "http.response.start", "status": 200, "headers": [length]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


def serving(header_seconds: float = LONG) -> AbstractAsyncContextManager[uvicorn.Server]:
    """Serve the application on a free port, until the block ends."""
    protocols: dict[str, Any] = {"http": patient(header_seconds), "ws": SocketProtocol}
    return started(application, timeout_graceful_shutdown=1, **protocols)


@asynccontextmanager
async def connected(
    server: uvicorn.Server,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer_to(server: uvicorn.Server, *parts: bytes) -> bytes:
    """Send parts, and return all that is answered until the server ends the connection."""
    async with asyncio.timeout(LONG), connected(server) as (reader, writer):
        for part in parts:
            writer.write(part)
        return await reader.read()


def test_each_server_has_its_own_limit() -> None:
    assert patient(1.0).header_seconds == 1.0
    assert patient(2.0).header_seconds == 2.0
    assert PatientHttpProtocol.header_seconds == 10.0


@pytest.mark.parametrize("sent", [b"", b"\r\n", GET, GET + b"accept: a"])
async def test_headers_that_do_not_come_in_time_end_the_connection(sent: bytes) -> None:
    async with serving(SHORT) as server:
        assert await answer_to(server, sent) == LATE


async def test_an_empty_line_after_an_answer_does_not_keep_the_connection() -> None:
    async with serving(SHORT) as server, connected(server) as (reader, writer):
        writer.write(GET + b"\r\n")
        await reader.readuntil(b"\r\n\r\n0")
        writer.write(b"\r\n")
        assert await reader.read() == LATE


@pytest.mark.parametrize("body", [b"content-length: 9\r\n\r\n", b"content-length: 9\r\n\r\nx"])
async def test_a_body_that_does_not_come_in_time_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setattr(protocols, "BODY_SECONDS", SHORT)
    async with serving() as server:
        assert await answer_to(server, POST + body) == LATE


async def test_a_body_may_come_byte_by_byte() -> None:
    async with serving() as server, connected(server) as (reader, writer):
        writer.write(POST + b"content-length: 20\r\n\r\n")
        for _ in range(20):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0)
        assert (await reader.readuntil(b"\r\n\r\n20")).startswith(b"HTTP/1.1 200")


async def test_a_body_that_is_ignored_may_take_as_long_as_another() -> None:
    async def answers_at_once(scope: Scope, receive: Receive, send: Send) -> None:
        length = (b"content-length", b"0")
        await send({"type": "http.response.start", "status": 413, "headers": [length]})
        await send({"type": "http.response.body", "body": b""})

    protocols: dict[str, Any] = {"http": patient(SHORT), "ws": SocketProtocol}
    async with (
        started(answers_at_once, **protocols) as server,
        connected(server) as (reader, writer),
    ):
        for _ in range(2):
            writer.write(POST + b"content-length: 20\r\n\r\n")
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 413")
            for _ in range(20):
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(SHORT / 10)


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /",
        GET + b"accept: ",
        POST + b"transfer-encoding: chunked\r\n\r\n1;",
        POST + b"transfer-encoding: chunked\r\n\r\n0\r\ntrailer: ",
    ],
)
async def test_headers_chunks_and_trailers_are_bounded_in_length(beginning: bytes) -> None:
    async with serving() as server, connected(server) as (reader, writer):
        writer.write(beginning)
        received = asyncio.create_task(reader.read())
        while not received.done():
            writer.write(b"a" * 10_000)
            await asyncio.wait({received}, timeout=0.01)
        assert (await received) == TOO_LONG


async def test_bytes_that_are_not_http_are_answered_with_a_problem() -> None:
    async with serving() as server:
        assert await answer_to(server, b"\x16\x03\x01\x02\x00\r\n\r\n") == MALFORMED


@pytest.mark.parametrize("header", [b"content-length: 5\r\n", b"transfer-encoding: chunked\r\n"])
async def test_a_websocket_does_not_begin_with_a_body(header: bytes) -> None:
    async with serving() as server:
        assert await answer_to(server, HANDSHAKE.replace(GET, GET + header)) == MALFORMED


def slow_reader(server: uvicorn.Server) -> socket.socket:
    """Return a client that has asked for much, and has little room for it."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.settimeout(LONG)
    client.connect(("127.0.0.1", port_of(server)))
    client.sendall(b"GET /big HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    return client


async def test_an_unread_answer_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocols, "UNREAD_SECONDS", SHORT)
    async with serving() as server:
        with slow_reader(server):
            while server.server_state.total_requests == 0:
                await asyncio.sleep(0.01)
            while server.server_state.connections:
                await asyncio.sleep(0.01)


async def test_an_answer_that_is_read_slowly_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocols, "UNREAD_SECONDS", READ_SECONDS / 3)
    async with serving() as server:
        with slow_reader(server) as client:
            received = await asyncio.to_thread(read_slowly, client)
            assert received > BIG


def read_slowly(client: socket.socket) -> int:
    """Read for three times as long as one may read nothing, and return how much that was."""
    received = 0
    until = time.monotonic() + READ_SECONDS
    while time.monotonic() < until:
        received += len(client.recv(4_096))
        time.sleep(0.005)
    while part := client.recv(BIG):
        received += len(part)
    return received


# Websockets

MASK = bytes(4)
PING = b"\x89\xfd" + MASK + b"x" * 125


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer each message with what was received."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        answer: Message = {"type": "websocket.send", "text": repr(message.get("bytes"))}
        await send(answer)


def echoing() -> AbstractAsyncContextManager[uvicorn.Server]:
    """Serve `echo` on a free port, until the block ends."""
    options: dict[str, Any] = {"ws": SocketProtocol, "ws_max_size": MOST_MESSAGE_BYTES}
    return started(echo, timeout_graceful_shutdown=1, **options)


def websocket(server: uvicorn.Server) -> connect:
    """Connect to a server by websocket."""
    return connect(f"ws://127.0.0.1:{port_of(server)}", proxy=None)


async def test_text_is_passed_on_as_it_came(caplog: pytest.LogCaptureFixture) -> None:
    async with echoing() as server, websocket(server) as client:
        await client.send("é")
        assert await client.recv() == repr("é".encode())
        await client.send(b"\xff", text=True)
        assert await client.recv() == repr(b"\xff")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_long_message_ends_the_websocket() -> None:
    async with echoing() as server, websocket(server) as client:
        await client.send("x" * MOST_MESSAGE_BYTES)
        assert await client.recv()
        await client.send("x" * (MOST_MESSAGE_BYTES + 1))
        with pytest.raises(ConnectionClosedError) as ended:
            await client.recv()
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1009


async def test_pings_whose_answers_are_not_read_end_the_websocket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocols, "MOST_UNREAD_BYTES", 10_000)
    loop = asyncio.get_running_loop()
    async with echoing() as server:
        with closing(socket.socket()) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.setblocking(False)
            await loop.sock_connect(client, ("127.0.0.1", port_of(server)))
            await loop.sock_sendall(client, HANDSHAKE)
            assert await loop.sock_recv(client, 12) == b"HTTP/1.1 101"
            with suppress(ConnectionError):
                while True:
                    await loop.sock_sendall(client, PING * 1_000)
        while server.server_state.connections:
            await asyncio.sleep(0.01)
