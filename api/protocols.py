"""uvicorn's protocols, with limits for clients that are slow or not to be trusted.

uvicorn waits for ever. So a few thousand clients that send nothing, or read nothing, would use up
all connections and all memory. On websockets it accepts messages of 16 MB, answers any number of
pings, and logs a traceback for text that is not UTF-8 and an error for each refusal.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar, Final

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from .errors import PROBLEM_TYPE, Problem
from .push.asgi import ALWAYS
from .push.small_buffers import ServiceHttpProtocol

BODY_SECONDS: Final = 60.0
"""How long a body may take to arrive, after its headers."""
LINGER_SECONDS: Final = 2.0
"""How long a refused client that is still sending is listened to, so that it can read why."""
UNREAD_SECONDS: Final = 120.0
"""How long nothing may leave of an answer; the kernel takes more only by the megabyte."""
MOST_HEADER_BYTES: Final = 65_536
"""About the longest headers: bytes that came in one piece are not cut."""

_OF_BODIES: Final = frozenset({b"content-length", b"transfer-encoding"})


def _farewell(status: bytes, problem: Problem) -> bytes:
    """Return an answer that ends its connection."""
    body = problem.body()
    headers = (
        (b"connection", b"close"),
        (b"content-type", PROBLEM_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        *ALWAYS,
    )
    lines = b"".join(b"%b: %b\r\n" % pair for pair in headers)
    return b"HTTP/1.1 %b\r\n%b\r\n%b" % (status, lines, body)


LATE: Final = _farewell(
    b"408 Request Timeout", Problem(408, "Too slow", "the request did not arrive in time")
)
TOO_LONG: Final = _farewell(
    b"431 Request Header Fields Too Large",
    Problem(431, "Headers too large", f"headers may have {MOST_HEADER_BYTES} bytes"),
)
MALFORMED: Final = _farewell(
    b"400 Bad Request", Problem(400, "Malformed request", "this is not HTTP as it should be")
)


class PatientHttpProtocol(ServiceHttpProtocol):
    """uvicorn's protocol, with limits on how long clients may take.

    A timer starts only for what does not come at once; a complete request needs none.
    """

    header_seconds: ClassVar[float] = 10.0
    _late: asyncio.TimerHandle | None = None
    _pending_bytes = 0
    """How many bytes came since headers, or a part of a body, were complete."""
    _ignores_body = False
    """Whether the connection has ended, except that the client is still sending."""
    _awaits_body = False
    """Whether more of a body is to come, whether it is used or ignored."""
    _unread: int | None = None
    """How much of answers had not left at the last look; None if all had left."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take the bytes that came, and wait for the rest if the request is not complete."""
        if self._ignores_body:
            return
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MOST_HEADER_BYTES:
            self._end(TOO_LONG, is_sending=True)
        is_idle = self.cycle is None or self.cycle.response_complete
        if self._late is None and (is_idle or self._awaits_body) and self._has_connection():
            # uvicorn has just stopped its timer for idle connections, maybe without a request.
            self._wait(BODY_SECONDS if self._awaits_body else self.header_seconds)

    def on_message_begin(self) -> None:
        """Wait for the headers. Those of the first request are waited for already."""
        super().on_message_begin()
        self._pending_bytes = 0
        if self._late is None:
            self._wait(self.header_seconds)

    def on_headers_complete(self) -> None:
        """Stop waiting for headers."""
        self._pending_bytes = 0
        self._awaits_body = True
        self._stop_waiting()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; parts without content, such as trailers, have a limit."""
        self._pending_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop waiting for a body."""
        self._awaits_body = False
        self._stop_waiting()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Begin a websocket, but not with a body, for which it would wait without limit."""
        if any(name in _OF_BODIES and value != b"0" for name, value in self.headers):
            self._end(MALFORMED, is_sending=True)
        else:
            super().handle_websocket_upgrade()

    def on_response_complete(self) -> None:
        """Begin to check whether the client reads the answer."""
        super().on_response_complete()
        unread = self.transport.get_write_buffer_size()
        if unread > 0:
            if self._unread is None:
                self.loop.call_later(UNREAD_SECONDS, self._end_unless_read)
            self._unread = unread

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP, and end the connection."""
        self._end(MALFORMED, is_sending=True)

    def _end_unless_read(self) -> None:
        assert self._unread is not None, "the last look is missing"
        unread = self.transport.get_write_buffer_size()
        if unread == 0:
            self._unread = None
        elif unread < self._unread:
            self._unread = unread
            self.loop.call_later(UNREAD_SECONDS, self._end_unless_read)
        else:
            self.transport.abort()

    def _wait(self, seconds: float) -> None:
        self._late = self.loop.call_later(seconds, self._end, LATE)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _end(self, farewell: bytes, *, is_sending: bool = False) -> None:
        """End the connection, with a farewell unless that could be taken for part of an answer.

        If a connection is closed while its client is sending, it is reset, and the client may not
        read the farewell. So what the client sends is ignored for some time.
        """
        self._stop_waiting()
        if self.transport.is_closing() or self._ignores_body:
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(farewell)
        if not is_sending:
            self.transport.close()
            return
        self._ignores_body = True
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True  # nothing may be sent after that
            cycle.message_event.set()
        self.flow.resume_reading()
        self.transport.write_eof()
        self._late = self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _has_connection(self) -> bool:
        """Tell whether the connection stays open, and was not given to a websocket."""
        return not self.transport.is_closing() and self.transport.get_protocol() is self


def patient(seconds: float) -> type[PatientHttpProtocol]:
    """Return the protocol with this limit for headers."""
    return type("PatientHttpProtocol", (PatientHttpProtocol,), {"header_seconds": seconds})


MOST_MESSAGE_BYTES: Final = 4_096
"""The longest message of a client, which only has to send `{"credit": n}`."""
MOST_UNREAD_BYTES: Final = 1 << 20
"""The most unread bytes for a client that goes on sending pings."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol for websockets, for clients that are not trusted."""

    def send_receive_event_to_app(self) -> None:
        """Pass a message on as bytes. The code that decodes it finds out whether it is text."""
        self.curr_msg_data_type = "bytes"
        super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message. A handshake that was answered with a refusal is complete."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True  # else uvicorn calls it an error of the application

    def handle_ping(self) -> None:
        """Answer a ping, unless the client has not read many answers."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            self.transport.abort()
