"""Turns for connections that are behind, so that they do not hold up those that keep up.

A connection that keeps up is sent an update as soon as it is there. One that is behind has much to
send whenever it may send: two hundred slow readers would keep the event loop busy for long, and a
fast one waiting. So these take turns, and each time the loop goes round one of them gets its turn.
What the others miss meanwhile is superseded, as it would be on their way.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Turns:
    """Gives one turn each time the event loop goes round, in the order in which they are asked for.

    It costs nothing while nobody asks.
    """

    __slots__ = ("_is_giving", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_giving = False

    async def next(self) -> None:
        """Return when it is the caller's turn."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        if not self._is_giving:
            self._is_giving = True
            loop.call_soon(self._give, loop)
        await turn

    def __len__(self) -> int:
        """Return how many wait."""
        return len(self._waiting)

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # it was cancelled
                turn.set_result(None)
                break
        if self._waiting:
            loop.call_soon(self._give, loop)
        else:
            self._is_giving = False
