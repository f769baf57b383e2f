"""What wakes a connection that has nothing to do: an update, a time, or its end. It never polls."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from .feed import StreamFeed
from .subscription import Ending, Subscription
from .turns import LAST, Turn, Turns

SHORTEST_DELAY: Final = 0.001
"""Event loops round times to milliseconds; without it a connection would spin for the rest."""
GOODBYE_SECONDS: Final = 1.0
"""How long a client that does not read may delay the end of its connection."""


class Wakeup:
    """Waits for one connection. Times are on the stream's scale of arrivals."""

    __slots__ = ("_event", "_feed", "_rings_at", "_timer", "_turn", "wake")

    def __init__(self, feed: StreamFeed) -> None:
        self._feed = feed
        self._event = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = math.inf
        self._turn: Turn | None = None
        self.wake = self._event.set
        """Wake the connection now, unless it waits for its turn."""

    async def wait(self) -> None:
        """Return once the connection was woken, at once if it was since the last time."""
        await self._event.wait()
        self._event.clear()

    async def turn(self, turns: Turns, *, backlog: int) -> None:
        """Return when it is the connection's turn, or as soon as it is to end."""
        self._turn = turns.ask(backlog=backlog)
        try:
            await self._turn
        finally:
            self._turn = None

    def end(self) -> None:
        """Wake the connection now, though it waits for its turn, since it is to end."""
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)
        self.wake()

    def on_update(self) -> None:
        """Wake up after the next update."""
        self._feed.wake_on_update(self.wake)

    def at(self, due: float) -> None:
        """Wake up at `due`, or before; infinity asks for nothing.

        An earlier ring that was asked for stays: taking it back costs more than looking in vain.
        """
        if due >= self._rings_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        delay = max(due - self._feed.stream.now(), SHORTEST_DELAY)
        self._timer = asyncio.get_running_loop().call_later(delay, self._ring)
        self._rings_at = due

    def close(self) -> None:
        """Wake nobody any more."""
        self._feed.stop_waking(self.wake)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        self._rings_at = math.inf
        self._event.set()


@asynccontextmanager
async def ended_in_time(subscription: Subscription, wakeup: Wakeup) -> AsyncIterator[None]:
    """Be woken when the service ends the connection; TimeoutError if that takes too long then."""
    try:
        async with asyncio.timeout(None) as deadline:

            def end() -> None:
                deadline.reschedule(asyncio.get_running_loop().time() + GOODBYE_SECONDS)
                wakeup.end()

            subscription.on_end = end
            yield
    finally:
        subscription.on_end = None


async def end_in_turn(subscription: Subscription, turns: Turns) -> None:
    """Close a subscription whose client has gone. Many may go at once, and each takes its time."""
    if subscription.ending is not None:
        return
    try:
        await turns.ask(backlog=LAST)
    finally:
        subscription.close(Ending.CLIENT)
