"""Cheap clients of a real server: some hundreds in one process, at any pace.

Run as a program it is a crowd: `python -m tests.api.push.raw_readers PORT READERS BYTES_PER_SECOND`
connects, says so, and reads until its input ends.
"""

from __future__ import annotations

import asyncio
import base64
import os
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

CREDIT = b'{"credit":1}'
ANSWER = bytes([0x81, 0x80 | len(CREDIT)]) + bytes(4) + CREDIT  # masked with zeros
PATIENCE = 20.0
FRESH_SECONDS = 0.25
ENOUGH_MESSAGES = 30
Received = Callable[[bytes], None]


async def read(
    port: int, query: str, received: Received, *, bytes_per_second: float | None = None
) -> None:
    """Read a queue's websocket, at a pace if one is given, until cancelled."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4_096)
    try:
        await _shake_hands(reader, writer, f"/v1/queues/q/socket?{query}")
        free_at = time.perf_counter()
        while True:
            data = await _read_frame(reader, writer)
            if bytes_per_second is not None:
                free_at = max(free_at, time.perf_counter() - 0.02) + len(data) / bytes_per_second
                await asyncio.sleep(max(free_at - time.perf_counter(), 0))
            received(data)
            writer.write(ANSWER)
    finally:
        writer.close()


async def read_events(port: int, query: str, received: Received) -> None:
    """Read a queue's event stream until cancelled; what is received is whatever comes at once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET /v1/queues/q/events?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        async with asyncio.timeout(PATIENCE):
            head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head, head
        while data := await reader.read(65_536):
            received(data)
    finally:
        writer.close()


async def _shake_hands(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str
) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
    )
    async with asyncio.timeout(PATIENCE):
        answer = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in answer, answer


async def _read_frame(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Return the payload of the next text frame, and answer pings before it."""
    while True:
        opcode, length = await reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack(">H", await reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", await reader.readexactly(8))
        payload = await reader.readexactly(length)
        if opcode & 15 == 1:
            return payload
        assert opcode & 15 == 9, "neither text nor a ping"
        writer.write(bytes([0x8A, 0x80 | length]) + bytes(4) + payload)


class Feed:
    """Puts updates into the stream at a rate, over one connection; their times are the wall's."""

    def __init__(self, port: int, *, keys: int, updates_per_second: int, batch: int = 20) -> None:
        self.port = port
        self.keys = keys
        self.seconds = batch / updates_per_second
        self.batch = batch
        self.sent = 0

    async def run(self) -> None:
        """Feed until cancelled: one key after the other, so that none is superseded at once."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        due = time.perf_counter()
        try:
            while True:
                await self._put(reader, writer)
                due = max(due + self.seconds, time.perf_counter() - 0.1)
                await asyncio.sleep(max(due - time.perf_counter(), 0))
        finally:
            writer.close()

    async def _put(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        now = time.time()
        rows = [
            (f"K{number % self.keys:05d}", now, number)
            for number in range(self.sent, self.sent + self.batch)
        ]
        await _post(reader, writer, msgspec.json.encode(rows))
        self.sent += self.batch


class Writers:
    """Put large batches into the stream, and never pause between them."""

    def __init__(self, port: int, *, keys: int, batch: int) -> None:
        self.batches = 0
        """How many the service has taken in."""
        self._port = port
        # Without times, so that the body may be the same: the service's clock gives them.
        rows = [(f"K{row % keys:05d}", None, row) for row in range(batch)]
        self._body = msgspec.json.encode(rows)

    @asynccontextmanager
    async def saturating(self, writers: int) -> AsyncIterator[None]:
        """Have so many writers while the block runs, each over a connection of its own."""
        tasks = [asyncio.create_task(self._write()) for _ in range(writers)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            while True:
                await _post(reader, writer, self._body)
                self.batches += 1
        finally:
            writer.close()


async def _post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
    """Put a batch into the stream."""
    writer.write(
        b"POST /v1/streams/q/updates HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert b" 202 " in head, head
    (length,) = (line[15:] for line in head.split(b"\r\n") if line[:15] == b"content-length:")
    await reader.readexactly(int(length))


class Ages:
    """How old updates are when they are received, while that is asked for."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.is_noting = False
        self._fresh_messages = 0
        self._is_settled = asyncio.Event()

    def received(self, data: bytes) -> None:
        """Take a message."""
        now = time.time()
        message: Any = msgspec.json.decode(data)
        ages = [now - update["time"] for update in message["updates"]]
        if self.is_noting:
            self.seconds += ages
        elif max(ages) < FRESH_SECONDS:
            self._fresh_messages += 1
            if self._fresh_messages == ENOUGH_MESSAGES:
                self._is_settled.set()

    async def settle(self) -> None:
        """Wait until the reader has what it was sent to begin with."""
        async with asyncio.timeout(PATIENCE):
            await self._is_settled.wait()

    async def note(self, seconds: float) -> None:
        """Note ages for a while."""
        self.is_noting = True
        await asyncio.sleep(seconds)
        self.is_noting = False

    def quantile(self, share: float) -> float:
        """Return an age that this share of the updates did not exceed."""
        ordered = sorted(self.seconds)
        return ordered[int(share * (len(ordered) - 1))]


async def _crowd(port: int, readers: int, bytes_per_second: float) -> None:
    loop = asyncio.get_running_loop()
    connected = 0
    all_here = asyncio.Event()

    def count(first: list[bool], data: bytes) -> None:
        nonlocal connected
        if first:
            first.clear()
            connected += 1
            if connected == readers:
                all_here.set()

    tasks = []
    for _ in range(readers):
        first = [True]
        received = lambda data, first=first: count(first, data)  # noqa: E731
        tasks.append(
            asyncio.create_task(
                read(port, "snapshot=true", received, bytes_per_second=bytes_per_second)
            )
        )
    await all_here.wait()
    sys.stdout.write("here\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


if __name__ == "__main__":
    os.nice(19)
    asyncio.run(_crowd(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
