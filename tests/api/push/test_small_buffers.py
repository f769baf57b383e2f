"""Small buffers on real connections, of both event loops."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

from api.push.asgi import Receive, Scope, Send
from api.push.small_buffers import EXTENSION, UNSENT_BYTES, ServiceHttpProtocol, shrink_buffers
from tests.api.started_server import started

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
CHUNK = b"x" * 1_024


class Flood:
    """An application that sends as much as there is room for, and counts it."""

    def __init__(self, *, is_shrunk: bool) -> None:
        self.is_shrunk = is_shrunk
        self.sent = 0
        self.transport: asyncio.WriteTransport | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.is_shrunk:
            assert shrink_buffers(scope) is not None
        transport = self.transport = scope["extensions"][EXTENSION]["transport"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not transport.is_closing():
            await send({"type": "http.response.body", "body": CHUNK, "more_body": True})
            self.sent += len(CHUNK)
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})


async def flood(*, is_shrunk: bool) -> int:
    """Return how much was sent to a client that reads nothing and has next to no room."""
    application = Flood(is_shrunk=is_shrunk)
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as client:
        options: dict[str, Any] = {"http": ServiceHttpProtocol, "timeout_graceful_shutdown": 0}
        async with started(application, sockets=[listening], **options):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, listening.getsockname())
            await loop.sock_sendall(client, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            sent = await _settled(lambda: application.sent)
            client.close()
            assert application.transport is not None
            application.transport.abort()
    return sent


async def _settled(count: Callable[[], int]) -> int:
    """Return a count once it has not changed for a while."""
    before = -1
    async with asyncio.timeout(20):
        while before != count() or before == 0:
            before = count()
            await asyncio.sleep(0.2)
    return before


def run(scenario: Any, loop: str) -> Any:
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        return runner.run(scenario)


@pytest.mark.parametrize("loop", LOOPS)
def test_little_is_on_the_way_to_a_client_that_reads_nothing(loop: str) -> None:
    async def both() -> tuple[int, int]:
        return await asyncio.gather(flood(is_shrunk=True), flood(is_shrunk=False))

    shrunk, usual = run(both(), loop)
    assert shrunk < 16_384
    assert usual > 4 * shrunk


def test_without_a_visible_connection_nothing_is_shrunk() -> None:
    assert shrink_buffers({"type": "http", "extensions": {}}) is None
    assert shrink_buffers({"type": "http"}) is None


def test_the_kernel_is_told_to_take_little() -> None:
    class Transport:
        def __init__(self, connection: socket.socket) -> None:
            self.connection = connection
            self.high: int | None = None
            self.is_closed = False

        def is_closing(self) -> bool:
            return self.is_closed

        def get_extra_info(self, name: str) -> socket.socket:
            return self.connection

        def set_write_buffer_limits(self, high: int) -> None:
            self.high = high

    with socket.socket() as connection:
        transport = Transport(connection)
        scope = {"extensions": {EXTENSION: {"transport": transport}}}
        assert shrink_buffers(scope) is transport  # type: ignore[comparison-overlap]
        assert transport.high == 0
        option = socket.TCP_NOTSENT_LOWAT
        assert connection.getsockopt(socket.IPPROTO_TCP, option) == UNSENT_BYTES
        transport.is_closed = True
        assert shrink_buffers(scope) is None
