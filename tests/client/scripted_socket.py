"""A websocket server that pushes what a test tells it to, and remembers what it was told.

Each connection follows one script: a list of messages to push, and then what becomes of the
connection.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

PATIENCE_SECONDS = 30.0


@dataclass
class Script:
    """What one connection does: push these messages, then end it as `end` does."""

    messages: Sequence[object]
    end: Callable[[ServerConnection], None] | None = None
    """None: wait until the client leaves."""


@dataclass
class ScriptedSocket:
    """A server on the loopback that takes one connection after the other."""

    url: str
    paths: list[str] = field(default_factory=list)
    """What the connections asked for."""
    credits: queue.SimpleQueue[object] = field(default_factory=queue.SimpleQueue)
    """What clients sent, in its order."""
    closed: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released as each connection ends."""

    def await_credit(self) -> object:
        """Return the next thing that a client sends."""
        return self.credits.get(timeout=PATIENCE_SECONDS)

    def await_close(self) -> None:
        """Wait until a connection has ended."""
        assert self.closed.acquire(timeout=PATIENCE_SECONDS)


def cut(connection: ServerConnection) -> None:
    """End the connection without a closing handshake."""
    connection.close_socket()


def closed_with(code: int, why: str = "") -> Callable[[ServerConnection], None]:
    """Return what ends the connection with a reason."""
    return lambda connection: connection.close(code, why)


@contextmanager
def scripted_socket(*scripts: Script) -> Iterator[ScriptedSocket]:
    """Yield a server that follows the scripts, one for each connection, the last one for all."""
    remaining = list(scripts)

    def handle(connection: ServerConnection) -> None:
        assert connection.request is not None
        server.paths.append(connection.request.path)
        script = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        try:
            for message in script.messages:
                connection.send(msgspec.json.encode(message).decode())
            if script.end is not None:
                script.end(connection)
            for said in connection:
                server.credits.put(msgspec.json.decode(said))
        except ConnectionClosed:
            pass
        finally:
            server.closed.release()

    with serve(handle, "127.0.0.1", 0, compression=None) as listening:
        port = listening.socket.getsockname()[1]
        server = ScriptedSocket(f"http://127.0.0.1:{port}")
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def message(*keys: str, id: str = "", reset: bool = False) -> dict[str, object]:  # noqa: A002
    """Return a message with an update for each key."""
    updates = [{"key": key, "value": 1, "time": 2.0} for key in keys]
    return {"updates": updates, "id": id} | ({"reset": True} if reset else {})
