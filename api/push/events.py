"""Push as server-sent events, which browsers and curl understand, with small buffers.

The client answers nothing. So the server knows only what has left, and guesses what was read
(`receive_window`). It waits for that before it makes the next message: updates wait only in the
queue, where newer values supersede them. Messages grow while they are read at once, and shrink
otherwise.

The bound: on this side, 2 kB that the kernel has not sent and one message, of about 512 bytes for a
slow client; on the other side, about half of the room that the client's kernel offers, if this
kernel is Linux. Measured for 40 seconds with a client that reads 50 kB/s, 2,000 updates/s and 100
keys: with Linux's usual receive buffer of 128 kB, updates are 1.7 s old in the median and 2.4 s in
the 99th percentile, and do not get older. Without these measures they get older by seconds per
minute. With a receive buffer of 8 kB it is 0.3 s and 0.45 s. A `max_rate` that the client can read
gives 25 and 60 ms (at 700/s); a websocket is an alternative.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from .admission import Feeds, subscribe
from .asgi import ALWAYS, Receive, Scope, Send
from .receive_window import ReceiveWindow
from .small_buffers import shrink_buffers, tcp_socket_of
from .subscription import Ending, PushMessage, Subscription
from .wakeup import SHORTEST_DELAY, Wakeup, end_in_turn, ended_in_time

RETRY_MILLISECONDS: Final = 2_000
"""How long clients should wait before they connect again."""
LEAST_BYTES: Final = 512
FIRST_BYTES: Final = 4_096
MOST_BYTES: Final = 65_536
QUICK: Final = 0.005
SLOW: Final = 0.02
PROBE_SECONDS: Final = 0.02
"""How long to wait for the client's kernel to answer, which tells what was read."""
HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    *ALWAYS,
    (b"connection", b"close"),  # the connection keeps its small buffers
    (b"x-accel-buffering", b"no"),
]
HEARTBEAT: Final = b":\n\n"


async def serve_events(feeds: Feeds, name: str, scope: Scope, receive: Receive, send: Send) -> int:
    """Serve an event stream of a queue until either side ends it, and return the status.

    Errors of `subscribe` are raised before anything is sent.
    """
    await feeds.turns.ask()  # many may come at once, and each takes some time
    subscription = subscribe(feeds, name, scope, "sse")
    try:
        await _serve(feeds, subscription, scope, receive, send)
    finally:
        await end_in_turn(subscription, feeds.turns)
    return 200


async def _serve(
    feeds: Feeds, subscription: Subscription, scope: Scope, receive: Receive, send: Send
) -> None:
    transport = shrink_buffers(scope)
    connection = None if transport is None else tcp_socket_of(transport)
    window = None if connection is None else ReceiveWindow(connection)
    stream = _EventStream(feeds, subscription, receive, send, window)
    try:
        await stream.run()
    except TimeoutError:  # the client does not even read the end
        if transport is not None:
            transport.abort()
            await stream.gone
    except OSError:  # the client has disconnected
        pass
    finally:
        await stream.close()


class _EventStream:
    """One event stream, with three tasks: one sends, one breaks silences, one waits for the end."""

    __slots__ = (
        "_beats",
        "_heartbeat",
        "_is_behind",
        "_message_bytes",
        "_meter",
        "_receive",
        "_send",
        "_subscription",
        "_turns",
        "_wakeup",
        "_window",
        "_written_at",
        "gone",
    )

    def __init__(
        self,
        feeds: Feeds,
        subscription: Subscription,
        receive: Receive,
        send: Send,
        window: ReceiveWindow | None,
    ) -> None:
        self._subscription = subscription
        self._receive = receive
        self._send = send
        self._meter = feeds.meter
        self._heartbeat = feeds.settings.heartbeat_seconds
        self._wakeup = Wakeup(subscription.stream)
        self._window = window
        self._message_bytes = FIRST_BYTES
        self._turns = feeds.turns
        self._is_behind = False
        self._written_at = subscription.now()
        self._beats: asyncio.Task[None] | None = None
        self.gone = asyncio.create_task(self._until_gone())
        self.gone.add_done_callback(lambda _: self._wakeup.end())

    async def run(self) -> None:
        """Serve the stream; raises TimeoutError if the client does not read its end."""
        await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await self._write(b"retry: %d\n\n" % RETRY_MILLISECONDS)
        self._beats = asyncio.create_task(self._beat())
        async with ended_in_time(self._subscription, self._wakeup):
            while self._is_open:
                await self._send_all()
                await self._wakeup.wait()
            self._beats.cancel()
            if not self.gone.done():
                await self._send({"type": "http.response.body", "body": self._last_event()})

    def _last_event(self) -> bytes:
        """Return the event that says why the stream ends, if a new connection would not help."""
        if self._subscription.ending is not Ending.FELL_BEHIND:
            return b""
        reason = msgspec.json.encode({"reason": Ending.FELL_BEHIND.value})
        return b"event: end\ndata: %b\n\n" % reason

    async def close(self) -> None:
        """Cancel everything that waits."""
        self._wakeup.close()
        tasks = [self.gone] if self._beats is None else [self.gone, self._beats]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _is_open(self) -> bool:
        return self._subscription.is_open() and not self.gone.done()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _beat(self) -> None:
        """Send a heartbeat after any long silence, whatever its reason."""
        while True:
            due_in = self._written_at + self._heartbeat - self._subscription.now()
            if due_in <= 0:
                await self._write(HEARTBEAT)
            await asyncio.sleep(max(due_in, SHORTEST_DELAY))

    async def _send_all(self) -> None:
        """Send until there is nothing to send, and arrange to be woken then."""
        subscription = self._subscription
        is_done = False
        while not is_done:
            await self._room()
            if self._is_behind and self._is_open:
                await self._wakeup.turn(self._turns, backlog=subscription.backlog)
            if not self._is_open:
                return
            is_short = self._is_behind and self._turns.is_crowded
            message = subscription.take(self._message_bytes, is_short=is_short)
            if message is None:
                self._is_behind = subscription.has_more
                is_done = not self._is_behind
            else:
                self._is_behind = not message.is_last
                await self._send_message(message)  # and look again, since more may have arrived
        self._wakeup.on_update()
        self._wakeup.at(subscription.next_due())

    async def _send_message(self, message: PushMessage) -> None:
        """Send a message, and wait until it was read, as far as that can be known."""
        began_at = self._subscription.now()
        self._meter.push_updates_sent += message.updates
        await self._write(b"id: %b\ndata: %b\n\n" % (message.message_id.encode(), message.data))
        await self._room()
        await self._until_read()
        if not self._is_open:
            return
        self._subscription.delivered(1)
        took = self._subscription.now() - began_at
        if took > SLOW:
            self._message_bytes = max(self._message_bytes // 2, LEAST_BYTES)
        elif took < QUICK and len(message.data) >= self._message_bytes:
            self._message_bytes = min(self._message_bytes * 2, MOST_BYTES)
        self._subscription.message_bytes = self._message_bytes

    async def _write(self, data: bytes) -> None:
        self._written_at = self._subscription.now()
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def _room(self) -> None:
        """Wait until what was written has left. Servers do so even for an empty part."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": True})

    async def _until_read(self) -> None:
        window = self._window
        if window is None:
            return
        while window.is_short(self._subscription.now()) and self._is_open:
            # The client's kernel tells its window only in an answer.
            await self._write(HEARTBEAT)
            await asyncio.sleep(PROBE_SECONDS)
