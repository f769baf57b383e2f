"""A client that sends any request, and checks that answers match their headers."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec
import pyarrow as pa

from tests.api.bodies.examples import ARROW, JSON, MESSAGEPACK, NDJSON

PROBLEM: Final = "application/problem+json"
KEPT_SECONDS: Final = 2.0
"""How long an idle connection is used again. The server closes it after five seconds."""
HANDSHAKE: Final = (
    b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
"""The beginning of a websocket at `/`."""


class Answer(NamedTuple):
    """What was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


class RawClient:
    """A connection to a server, which is kept between requests unless it was idle for long."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._used_at = time.monotonic()

    def close(self) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send a request, and return the answer, whatever it is but a failure of the service."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if time.monotonic() - self._used_at > KEPT_SECONDS:
            self._connection.close()  # it is opened again for the request
        self._connection.request(method, path, body, named)
        answer = self._connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        told = Answer(answer.status, found, answer.read())
        self._used_at = time.monotonic()
        assert told.status < 500, f"{method} {path[:200]}: {told.status} {told.body[:500]!r}"
        if method == "HEAD":
            assert not told.body
        assert told.headers["x-content-type-options"] == "nosniff"
        assert told.headers["cache-control"]
        if told.status >= 400 and method != "HEAD":
            assert told.content_type == PROBLEM, f"{method} {path[:200]}: {told}"
            assert strict_json(told.body)["status"] == told.status
        return told

    def get(self, path: str, accept: str = JSON) -> Answer:
        return self.ask("GET", path, accept=accept)

    def post(
        self, path: str, body: bytes = b"", content_type: str = JSON, **headers: str
    ) -> Answer:
        return self.ask("POST", path, body, content_type=content_type, **headers)

    def put(self, path: str, definition: object) -> Answer:
        body = msgspec.json.encode(definition)
        return self.ask("PUT", path, body, content_type=JSON)


class Exchanged(NamedTuple):
    """What came back for some bytes: the first answer, and all that there was."""

    status: int
    headers: dict[str, str]
    body: bytes
    everything: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


def exchange(port: int, data: bytes) -> Exchanged:
    """Send these bytes, and return what comes back until the server ends the connection."""
    everything = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with suppress(ConnectionError):  # it may be told, and then no more heard
            connection.sendall(data)
        with suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                everything += part
    head, _, body = everything.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    status = int(first.split()[1]) if first else 0
    return Exchanged(status, headers, body, everything)


@contextmanager
def connected(port: int) -> Iterator[RawClient]:
    """Connect to a server until the block ends."""
    client = RawClient(port)
    try:
        yield client
    finally:
        client.close()


def key_path(key: object) -> str:
    """Return the part of a path, and the query, that name any key."""
    return f"{quote(msgspec.json.encode(key), safe='')}?json=1"


def strict_json(text: bytes) -> Any:
    """Return JSON decoded; ValueError if it is invalid, as with NaN or half a surrogate pair."""

    def refuse(constant: str) -> object:
        raise ValueError(constant)

    value = json.loads(text.decode("utf-8"), parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode()  # fails for half of a surrogate pair
    return value


def _json_updates(body: bytes) -> list[dict[str, Any]]:
    updates: list[dict[str, Any]] = strict_json(body)["updates"]
    return updates


def _ndjson_updates(body: bytes) -> list[dict[str, Any]]:
    assert not body or body.endswith(b"\n")
    return [strict_json(line) for line in body.split(b"\n")[:-1]]


def _messagepack_updates(body: bytes) -> list[dict[str, Any]]:
    updates: list[dict[str, Any]] = msgspec.msgpack.decode(body)["updates"]
    msgspec.json.encode(updates)
    return updates


def _arrow_updates(body: bytes) -> list[dict[str, Any]]:
    table = pa.ipc.open_stream(body).read_all()
    table.validate(full=True)
    updates: list[dict[str, Any]] = table.to_pylist()
    for field in table.schema:
        if field.metadata:
            assert field.metadata == {b"content_type": b"application/json"}
            for update in updates:
                if update[field.name] is not None:
                    update[field.name] = strict_json(update[field.name].encode())
    return updates


UPDATES_IN: Final[dict[str, Callable[[bytes], list[dict[str, Any]]]]] = {
    JSON: _json_updates,
    NDJSON: _ndjson_updates,
    MESSAGEPACK: _messagepack_updates,
    ARROW: _arrow_updates,
}


def updates_in(answer: Answer) -> list[dict[str, Any]]:
    """Return the updates of an answer, read as what it says it is."""
    assert answer.status == 200, answer
    updates = UPDATES_IN[answer.content_type](answer.body)
    for update in updates:
        assert (
            {"key", "time", "value"} <= set(update) <= {"key", "time", "value", "lease", "deleted"}
        )
        assert isinstance(update["time"], float | int)
    return updates
