"""Turns for connections that are behind, so that they do not hold up those that keep up.

A connection that keeps up is sent an update as soon as it is there. One that is behind has much to
send whenever it may send: two hundred slow readers would keep the event loop busy for long, and a
fast one waiting. So these take turns, and each time the loop goes round one of them gets its turn,
in which it sends one message; less of it while they are a crowd. What they miss meanwhile is
superseded, as it would be on its way.

Those that are quick, or need but one more message, go before the others, so that there are soon
fewer of them. But of four turns in a row one is for the others. And after a crowd has had its turns
for `ROUND_SECONDS`, it rests as long: there is time for those that keep up, and for what comes in.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter
from typing import Final

MOST_IN_A_ROW: Final = 3
CROWD: Final = 8
ROUND_SECONDS: Final = 0.001
"""No less, since timers are no finer."""

_Line = deque[asyncio.Future[None]]


class Turns:
    """Gives one turn each time the event loop goes round. It costs nothing while nobody asks."""

    __slots__ = ("_first", "_in_a_row", "_is_giving", "_others", "_since")

    def __init__(self) -> None:
        self._first: _Line = deque()
        self._others: _Line = deque()
        self._in_a_row = 0
        self._is_giving = False
        self._since = 0.0
        """When the present round of turns began."""

    async def next(self, *, is_first: bool = False) -> None:
        """Return when it is the caller's turn; `is_first` if it goes before others."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        (self._first if is_first else self._others).append(turn)
        if not self._is_giving:
            self._is_giving = True
            loop.call_soon(self._begin, loop)
        await turn

    @property
    def is_crowded(self) -> bool:
        """Whether so many wait that turns should be short."""
        return len(self) >= CROWD

    def __len__(self) -> int:
        """Return how many wait."""
        return len(self._first) + len(self._others)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._since = perf_counter()
        self._give(loop)

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        while self:
            turn = self._next_line().popleft()
            if not turn.done():  # it was cancelled
                turn.set_result(None)
                break
        took = perf_counter() - self._since
        if not self:
            self._is_giving = False
        elif took > ROUND_SECONDS and self.is_crowded:
            loop.call_later(took, self._begin, loop)
        else:
            loop.call_soon(self._give, loop)

    def _next_line(self) -> _Line:
        is_first = bool(self._first) and (self._in_a_row < MOST_IN_A_ROW or not self._others)
        self._in_a_row = self._in_a_row + 1 if is_first else 0
        return self._first if is_first else self._others
