"""Turns for connections that are behind, so that they do not hold up those that keep up.

A connection that keeps up is sent an update as soon as it is there. One that is behind has much to
send whenever it may send: two hundred slow readers would keep the event loop busy for long, and a
fast one waiting. So these take turns, and each time the loop goes round one of them gets its turn.
What the others miss meanwhile is superseded, as it would be on their way.

Those that keep up with one more message go before those that do not: there are soon fewer of them.
But of four turns in a row one is for the others; and while these are a crowd, no more than `SHARE`
of the time is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter
from typing import Final

MOST_IN_A_ROW: Final = 3
CROWD: Final = 8
SHARE: Final = 1.0
SAVED_SECONDS: Final = 0.002
"""How much of its time a crowd may save up, since timers are no finer."""
SHORTEST_DELAY: Final = 0.001

_Line = deque[asyncio.Future[None]]


class Turns:
    """Gives one turn each time the event loop goes round. It costs nothing while nobody asks."""

    __slots__ = ("_first", "_giving", "_in_a_row", "_is_timed", "_others", "_others_at")

    def __init__(self) -> None:
        self._first: _Line = deque()
        self._others: _Line = deque()
        self._in_a_row = 0
        self._others_at = 0.0
        self._giving: asyncio.Handle | None = None
        self._is_timed = False

    async def next(self, *, is_first: bool = False) -> None:
        """Return when it is the caller's turn; `is_first` if it goes before others."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        (self._first if is_first else self._others).append(turn)
        if self._giving is None or (is_first and self._is_timed):
            self._give_soon(loop)
        await turn

    def took(self, seconds: float) -> None:
        """Note how long a turn took that was not one of the first."""
        if len(self._others) >= CROWD:
            earliest = perf_counter() - SAVED_SECONDS
            self._others_at = max(self._others_at, earliest) + seconds / SHARE

    def __len__(self) -> int:
        """Return how many wait."""
        return len(self._first) + len(self._others)

    def _give_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._giving is not None:
            self._giving.cancel()
        self._giving = loop.call_soon(self._give, loop)
        self._is_timed = False

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        self._giving = None
        while self:
            wait = self._others_at - perf_counter()
            if not self._first and wait > 0 and len(self._others) >= CROWD:
                self._giving = loop.call_later(max(wait, SHORTEST_DELAY), self._give, loop)
                self._is_timed = True
                return
            turn = self._next_line(others_wait=wait > 0).popleft()
            if not turn.done():  # it was cancelled
                turn.set_result(None)
                break
        if self:
            self._give_soon(loop)

    def _next_line(self, *, others_wait: bool) -> _Line:
        if not self._first:
            return self._others
        is_first = others_wait or not self._others or self._in_a_row < MOST_IN_A_ROW
        self._in_a_row = self._in_a_row + 1 if is_first else 0
        return self._first if is_first else self._others
