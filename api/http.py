"""Reading requests and sending answers over ASGI, for the routes that have to be fast."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl, unquote, unquote_to_bytes

from .errors import PROBLEM_TYPE, Problem, RequestError
from .push.asgi import ALWAYS, Message, Receive, Scope, Send
from .push.small_buffers import EXTENSION
from .unknown_names import unknown_name

JSON: Final = "application/json"
MOST_PARAMETERS: Final = 100
SEGMENTS_BEFORE_KEY: Final = 5
"""How many parts a path has before a key: an empty one, `v1`, `streams`, the name, `keys`."""
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}


class ClientGoneError(Exception):
    """The client disconnected before its request was complete or answered."""


def check_path(scope: Scope) -> None:
    """Raise RequestError if the path is not UTF-8; the server would use question marks."""
    raw: bytes = scope["raw_path"]
    if b"%" in raw:
        try:
            unquote_to_bytes(raw).decode()
        except UnicodeDecodeError:
            raise RequestError(422, "Bad path", "the path is not valid UTF-8") from None


def routed_path(scope: Scope) -> str:
    """Return the path by which a route is found.

    The path is split at its literal slashes, and then its parts are decoded. An encoded slash stays
    `%2F`, which no name contains. A key, which is the rest of its path, stays as it was sent: its
    convertor (`routes/parameters`) decodes it.
    """
    raw: bytes = scope["raw_path"]
    if b"%" not in raw:
        path: str = scope["path"]
        return path
    *parts, rest = raw.decode("latin-1").split("/", SEGMENTS_BEFORE_KEY)
    decoded = [unquote(part).replace("/", "%2F") for part in parts]
    is_key = len(decoded) == SEGMENTS_BEFORE_KEY and decoded[-1] == "keys"
    return "/".join([*decoded, rest if is_key else unquote(rest).replace("/", "%2F")])


def query(scope: Scope) -> dict[str, str]:
    """Return the last value of each query parameter; RequestError if there are too many."""
    raw = scope["query_string"]
    if not raw:
        return {}
    try:
        pairs = parse_qsl(
            raw.decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_PARAMETERS
        )
    except ValueError:
        raise RequestError(
            422, "Too many parameters", f"a query may have at most {MOST_PARAMETERS} parameters"
        ) from None
    return dict(pairs)


def check_known(parameters: dict[str, str], known: Iterable[str]) -> None:
    """Raise RequestError if a parameter is unknown, since it may be mistyped."""
    unknown = parameters.keys() - set(known)
    if unknown:
        detail = unknown_name("parameter", min(unknown), known)
        raise RequestError(422, "Unknown parameter", detail)


def number(
    parameters: dict[str, str], name: str, default: float, *, least: float, most: float
) -> float:
    """Return a number within bounds from the query; RequestError if it is something else."""
    text = parameters.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise RequestError(
            422, "Bad parameter", f"{name} must be a number from {least:g} to {most:g}"
        )
    return value


def whole_number(
    parameters: dict[str, str], name: str, default: int, *, least: int, most: int
) -> int:
    """Return a whole number from the query; RequestError if it is something else."""
    value = number(parameters, name, default, least=least, most=most)
    if value != int(value):
        raise RequestError(422, "Bad parameter", f"{name} must be a whole number")
    return int(value)


def flag(parameters: dict[str, str], name: str) -> bool:
    """Return a boolean from the query; RequestError if it is something else."""
    value = _FLAGS.get(parameters.get(name, "false").lower())
    if value is None:
        raise RequestError(422, "Bad parameter", f"{name} must be true or false")
    return value


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Return the body; RequestError if it is too long or compressed.

    The server limits how long it may take to arrive (`protocols`).
    """
    for name, value in scope["headers"]:
        if name == b"content-length":
            if value.isdigit() and int(value) > most:
                raise _too_large(most)
        elif name == b"content-encoding" and value.lower() not in (b"", b"identity"):
            raise RequestError(415, "Unsupported content encoding", "send the body uncompressed")
        elif name == b"transfer-encoding" and (
            # HTTP/1.0 has no chunks, so a proxy of 1.0 has not seen where the body ends.
            value.strip().lower() != b"chunked" or scope["http_version"] == "1.0"
        ):
            detail = "send the body uncompressed, with a Content-Length or chunked"
            raise RequestError(501, "Unsupported transfer coding", detail)
    parts: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(most: int) -> RequestError:
    return RequestError(
        413, "Body too large", f"the body may have at most {most} bytes", most_bytes=most
    )


def received(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first returns a body which was already read."""
    is_given = False

    async def receive_again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def has_hung_up(scope: Scope) -> bool:
    """Tell whether the client is known to have disconnected, so that no answer would arrive.

    Ask before answering, since the end of an answer may close the connection as well.
    """
    transport = scope.get("extensions", {}).get(EXTENSION, {}).get("transport")
    return transport is not None and transport.is_closing()


async def answer(
    send: Send,
    status: int,
    body: bytes,
    content_type: str = JSON,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Send an answer."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", content_type.encode("latin-1")),
                (b"content-length", b"%d" % len(body)),
                *ALWAYS,
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def answer_problem(send: Send, problem: Problem) -> None:
    """Send a problem.

    The connection stays open, so that a client that is still sending its body can read the problem.
    The server ignores the rest of the body (`protocols`).
    """
    await answer(send, problem.status, problem.body(), PROBLEM_TYPE, problem.headers)
