"""Wakes an idle connection at an update, at a time, or at its end. It never polls."""

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
"""Event loops round times to milliseconds; a shorter delay would make a connection spin."""
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
        """Return once the connection is woken, or at once if it was since the last call."""
        await self._event.wait()
        self._event.clear()

    async def turn(self, turns: Turns, *, backlog: int) -> None:
        """Return when it is the connection's turn, or as soon as the connection must end."""
        self._turn = turns.ask(backlog=backlog)
        try:
            await self._turn
        finally:
            self._turn = None

    def end(self) -> None:
        """Wake the connection now, even if it waits for its turn, since it must end."""
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)
        self.wake()

    def on_update(self) -> None:
        """Wake up after the next update."""
        self._feed.idle.add(self.wake)

    def at(self, due: float) -> None:
        """Wake up at `due` or earlier; infinity asks for nothing.

        An earlier time that was asked for stays: cancelling it costs more than waking in vain.
        """
        if due >= self._rings_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        delay = max(due - self._feed.stream.now(), SHORTEST_DELAY)
        self._timer = asyncio.get_running_loop().call_later(delay, self._ring)
        self._rings_at = due

    def close(self) -> None:
        """Stop waking the connection."""
        self._feed.idle.remove(self.wake)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        self._rings_at = math.inf
        self._event.set()


@asynccontextmanager
async def ended_in_time(subscription: Subscription, wakeup: Wakeup) -> AsyncIterator[None]:
    """Wake up when the service ends the connection; TimeoutError if its end takes too long."""
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
    """Close a subscription whose client has disconnected, in turn, since many may do so at once."""
    if subscription.ending is not None:
        return
    try:
        await turns.ask(backlog=LAST)
    finally:
        subscription.close(Ending.CLIENT)
