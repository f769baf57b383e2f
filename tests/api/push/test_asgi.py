"""Headers, and refused handshakes."""

from __future__ import annotations

from api.push.asgi import LONGEST_REASON, header, refuse_socket
from tests.api.push.setting import Connection, scope_of


def test_a_header_is_found_by_its_name() -> None:
    scope = scope_of("http", headers=[(b"accept", b"x"), (b"last-event-id", b"run-1")])
    assert header(scope, b"last-event-id") == "run-1"
    assert header(scope, b"origin") is None


async def test_a_handshake_is_refused_with_a_problem() -> None:
    connection = Connection()
    await refuse_socket(
        scope_of("websocket"), connection.send, status=404, body=b"{}", reason="Unknown name"
    )
    start, body = await connection.waiting()
    assert start["type"] == "websocket.http.response.start"
    assert start["status"] == 404
    assert (b"content-type", b"application/problem+json") in start["headers"]
    assert (b"content-length", b"2") in start["headers"]
    assert body == {"type": "websocket.http.response.body", "body": b"{}"}


async def test_a_server_that_cannot_answer_a_handshake_closes_it() -> None:
    connection = Connection()
    scope = scope_of("websocket") | {"extensions": {}}
    reason = "é" * LONGEST_REASON
    await refuse_socket(scope, connection.send, status=404, body=b"{}", reason=reason)
    (close,) = await connection.waiting()
    assert (close["type"], close["code"]) == ("websocket.close", 1008)
    assert 0 < len(close["reason"].encode()) <= LONGEST_REASON
    assert reason.startswith(close["reason"])
