"""Push over a websocket: credit keeps little on its way, so what arrives is new.

The server sends updates as `Flight` allows. The client answers `{"credit": n}` when it is done with
`n` messages. These count as delivered, and as many more may be sent. uvicorn handles pings.

Measured with 2,000 updates/s (`tests/benchmarks/test_push.py`), updates at a client that reads 50
kB/s are 37 to 45 ms old in the median and 65 to 72 ms in the 99th percentile with 50 keys, and 240
to 300 and 510 to 540 ms with 1,000 keys. For most of that time they waited in the queue, or were
the newest when they were sent. DECISIONS.md, 47, has the effect of two hundred connections on
others.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, NamedTuple

import msgspec

from .admission import Feeds, subscribe
from .asgi import Message, Receive, Scope, Send
from .flight import Flight
from .subscription import Ending, Subscription
from .wakeup import Wakeup, end_in_turn, ended_in_time

GOING_AWAY: Final = 1001
INVALID_DATA: Final = 1007
POLICY_VIOLATION: Final = 1008
SERVICE_RESTART: Final = 1012
CLOSE_CODES: Final = {
    Ending.CLIENT: GOING_AWAY,  # the client does not get it
    Ending.DELETED: GOING_AWAY,
    Ending.SHUTDOWN: SERVICE_RESTART,
    Ending.FELL_BEHIND: POLICY_VIOLATION,
}


class Fault(NamedTuple):
    """A violation of the protocol by the client, with what it is told."""

    code: int
    reason: str


class Credit(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What a client sends: it is done with this many messages."""

    credit: Annotated[int, msgspec.Meta(ge=1, le=1 << 31)]


_read_credit = msgspec.json.Decoder(Credit).decode


async def serve_socket(feeds: Feeds, name: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a websocket to a queue until either side ends it.

    Errors of `subscribe` are raised before the websocket is accepted, so that the caller can refuse
    it (`refuse_socket`).
    """
    await receive()  # websocket.connect
    await feeds.turns.ask()  # many may come at once, and each takes some time
    subscription = subscribe(feeds, name, scope, "websocket")
    try:
        await _Socket(feeds, subscription, receive, send).run()
    except OSError:  # the client has disconnected, or does not read the end
        return
    finally:
        await end_in_turn(subscription, feeds.turns)


class _Socket:
    """One websocket, with two tasks: one reads answers, one waits for updates. Both send."""

    __slots__ = (
        "_answered",
        "_flight",
        "_is_behind",
        "_is_sending",
        "_meter",
        "_now",
        "_receive",
        "_send",
        "_subscription",
        "_turns",
        "_wakeup",
    )

    def __init__(
        self, feeds: Feeds, subscription: Subscription, receive: Receive, send: Send
    ) -> None:
        self._subscription = subscription
        self._receive = receive
        self._send = send
        self._meter = feeds.meter
        self._now = subscription.now
        self._flight = Flight(subscription.selection.window)
        self._wakeup = Wakeup(subscription.stream)
        self._turns = feeds.turns
        self._is_sending = False
        self._is_behind = False
        self._answered = 0
        """How many answered messages do not count as delivered yet."""

    async def run(self) -> None:
        """Serve the websocket; raises OSError if it breaks, or does not end in time."""
        await self._send({"type": "websocket.accept"})
        reader = asyncio.create_task(self._read())
        reader.add_done_callback(lambda _: self._wakeup.wake())
        try:
            async with ended_in_time(self._subscription, self._wakeup):
                await self._write(reader)
        finally:
            self._wakeup.close()
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _write(self, reader: asyncio.Task[Fault | None]) -> None:
        """Send whenever there is something to send, until the connection is to end."""
        while self._subscription.ending is None and not reader.done():
            await self._send_all()
            await self._wakeup.wait()
        ending = self._subscription.ending
        fault = None
        if ending is not None:
            fault = Fault(CLOSE_CODES[ending], ending.value)
        elif reader.done():
            fault = reader.result()
        if fault is not None:
            await self._send(
                {"type": "websocket.close", "code": fault.code, "reason": fault.reason}
            )

    async def _read(self) -> Fault | None:
        """Take answers until the client disconnects or violates the protocol."""
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return None
            fault = self._take_answer(message)
            if fault is not None:
                return fault
            await self._send_all()

    def _take_answer(self, message: Message) -> Fault | None:
        text = message.get("text")
        try:
            credit = _read_credit(message["bytes"] if text is None else text).credit
        except msgspec.ValidationError:
            return Fault(POLICY_VIOLATION, 'expected {"credit": n}, with n at least 1')
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return Fault(INVALID_DATA, 'expected JSON: {"credit": n}')
        self._answered += self._flight.answer(credit, self._now())
        return None

    async def _send_all(self) -> None:
        """Send until there is no credit or nothing to send, and arrange to be woken then."""
        if self._is_sending:
            return  # the other task looks again before it stops
        self._is_sending = True
        try:
            while self._subscription.is_open() and self._may_send():
                if self._is_behind:
                    is_done = await self._send_in_turn()
                else:
                    is_done = await self._send_next()
                self._is_behind = not is_done
                if is_done and self._subscription.ending is None:
                    self._wakeup.on_update()
                    self._wakeup.at(self._subscription.next_due())
                    return
        finally:
            self._is_sending = False
            self._deliver()

    def _may_send(self) -> bool:
        flight = self._flight
        if flight.may_send(self._now()):
            return True
        self._is_behind = True
        self._wakeup.at(flight.next_due())
        if not self._subscription.selection.may_conflate:
            self._wakeup.on_update()  # after which it may have to end
        return False

    async def _send_in_turn(self) -> bool:
        """Send as `_send_next` does, when it is this connection's turn."""
        await self._wakeup.turn(self._turns, backlog=self._subscription.backlog)
        if self._subscription.ending is not None:
            return False
        return await self._send_next(is_short=self._turns.is_crowded)

    async def _send_next(self, *, is_short: bool = False) -> bool:
        """Send the next message, if there is one; return whether nothing else can be sent now."""
        self._deliver()
        flight = self._flight
        message = self._subscription.take(flight.message_bytes, is_short=is_short)
        if message is None:
            return not self._subscription.has_more
        self._subscription.message_bytes = flight.message_bytes
        self._meter.push_updates_sent += message.updates
        flight.send(len(message.data), self._now())
        await self._send({"type": "websocket.send", "text": message.data.decode()})
        return message.is_last

    def _deliver(self) -> None:
        """Deliver what was answered, in this connection's turn if it has to wait."""
        answered, self._answered = self._answered, 0
        self._subscription.delivered(answered)
