"""ASGI: the types of its messages, common headers, and the refusal of a websocket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PROBLEM_TYPE: Final = b"application/problem+json"
ALWAYS: Final = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
"""Headers of every answer that has no others: clients must not guess its type or cache it."""
POLICY_VIOLATION: Final = 1008
LONGEST_REASON: Final = 123
"""The most bytes of a reason in a close frame."""


def header(scope: Scope, name: bytes) -> str | None:
    """Return a header of the request by its name in lower case, or None if it is missing."""
    for found, value in scope["headers"]:
        if found == name:
            text: str = value.decode("latin-1")
            return text
    return None


async def refuse_socket(scope: Scope, send: Send, *, status: int, body: bytes, reason: str) -> None:
    """Answer the handshake of a websocket with a problem, if the server can.

    Otherwise the client only learns that it is refused.
    """
    if "websocket.http.response" not in scope.get("extensions", {}):
        close = {"type": "websocket.close", "code": POLICY_VIOLATION, "reason": _cut(reason)}
        await send(close)
        return
    length = (b"content-length", b"%d" % len(body))
    headers = [(b"content-type", PROBLEM_TYPE), length, *ALWAYS]
    start = {"type": "websocket.http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": body})


def _cut(reason: str) -> str:
    return reason.encode()[:LONGEST_REASON].decode(errors="ignore")
