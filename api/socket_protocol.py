"""Websockets that cost what their clients say little: answers are short, and so is what they keep.

uvicorn takes messages of 16 MB, answers pings that nobody reads, logs a traceback for text that is
no text, and an error for each websocket that is refused.
"""

from __future__ import annotations

from typing import Final

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST_MESSAGE_BYTES: Final = 4_096
"""How long a message of a client may be; it has to say no more than `{"credit": n}`."""
MOST_UNREAD_BYTES: Final = 1 << 20
"""How much may wait to be read by a client that goes on sending pings."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol for websockets, for clients that are not trusted."""

    def send_receive_event_to_app(self) -> None:
        """Hand a message on as bytes: whoever decodes it finds out whether it is text."""
        self.curr_msg_data_type = "bytes"
        super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message; a handshake that was answered with a refusal is complete."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True  # else uvicorn calls it an error of the application

    def handle_ping(self) -> None:
        """Answer a ping, unless many answers have not been read."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            self.transport.abort()
