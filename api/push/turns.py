"""Turns for connections that are behind, so that they do not hold up those that keep up.

A connection that keeps up is sent an update as soon as it is there. One that is behind has much to
send whenever it may send: two hundred slow readers would keep the event loop busy for long, and a
fast one waiting. So these take turns, and each time the loop goes round one of them gets its turn,
in which it sends one message; less of it while they are a crowd. What they miss meanwhile is
superseded, as it would be on its way.

Who has the least to send goes first, so that a fast reader that fell behind is soon one that keeps
up again, and there are fewer of them. But of four turns in a row one is for whoever has waited
longest. And after a crowd has had its turns for `ROUND_SECONDS`, it rests as long: there is time
for those that keep up, and for what comes in.
"""

from __future__ import annotations

import asyncio
from collections import deque
from heapq import heappop, heappush
from itertools import count
from time import perf_counter
from typing import Final

MOST_IN_A_ROW: Final = 3
CROWD: Final = 8
ROUND_SECONDS: Final = 0.001
"""No less, since timers are no finer."""
LAST: Final = 1 << 62
"""More than any connection has to send: for what can wait."""

_Turn = asyncio.Future[None]


class Turns:
    """Gives one turn each time the event loop goes round. It costs nothing while nobody asks."""

    __slots__ = (
        "_by_arrival",
        "_by_backlog",
        "_in_a_row",
        "_is_giving",
        "_numbers",
        "_since",
        "_waiting",
    )

    def __init__(self) -> None:
        # Each has turns in it that were given by the other one, or that nobody waits for any more.
        self._by_backlog: list[tuple[int, int, _Turn]] = []
        self._by_arrival: deque[_Turn] = deque()
        self._numbers = count()
        self._waiting = 0
        self._in_a_row = 0
        self._is_giving = False
        self._since = 0.0
        """When the present round of turns began."""

    async def next(self, *, backlog: int = 0) -> None:
        """Return when it is the turn of a caller who has so much to send."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        heappush(self._by_backlog, (backlog, next(self._numbers), turn))
        self._by_arrival.append(turn)
        self._waiting += 1
        if not self._is_giving:
            self._is_giving = True
            loop.call_soon(self._begin, loop)
        try:
            await turn
        finally:
            self._waiting -= 1

    @property
    def is_crowded(self) -> bool:
        """Whether so many wait that turns should be short."""
        return self._waiting >= CROWD

    def __len__(self) -> int:
        """Return how many wait."""
        return self._waiting

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._since = perf_counter()
        self._give(loop)

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        took = perf_counter() - self._since  # with the turn before, which is over
        if took > ROUND_SECONDS and self.is_crowded:
            loop.call_later(took, self._begin, loop)
            return
        turn = self._next_turn()
        if turn is None:
            self._is_giving = False
        else:
            turn.set_result(None)
            loop.call_soon(self._give, loop)

    def _next_turn(self) -> _Turn | None:
        if self._in_a_row == MOST_IN_A_ROW:
            self._in_a_row = 0
            while self._by_arrival:
                turn = self._by_arrival.popleft()
                if not turn.done():
                    return turn
        self._in_a_row += 1
        while self._by_backlog:
            turn = heappop(self._by_backlog)[2]
            if not turn.done():
                return turn
        self._by_arrival.clear()
        self._in_a_row = 0
        return None
