"""Turns for connections that are behind, so that they do not hold up those that keep up.

A connection that keeps up is sent an update as soon as it is there. One that is behind has much to
send whenever it may send: two hundred slow readers would keep the event loop busy for long, and a
fast one waiting. So these take turns, and in its turn a connection sends one message; less of it
while they are a crowd. What they miss meanwhile is superseded, as it would be on its way.

Each time the event loop goes round there is one turn. There are more if they take less than `SHARE`
of the time that everything else takes: when writers never pause, the loop needs tenths of a second
to go round once, and of a hundred readers the last one would wait for its turn for a minute. A
crowd that has worked rests for a while, so that there is time for those that keep up. Whatever else
the loop does meanwhile counts as rest.

The connection with the least to send goes first, so that a fast reader that fell behind soon keeps
up again. No connection is passed over for ever: others that ask later go first for as many turns as
it has updates to send, and for at most `REACH` turns per waiting connection.
"""

from __future__ import annotations

import asyncio
from heapq import heappop, heappush
from itertools import count
from time import thread_time
from typing import Final

CROWD: Final = 8
"""How many have to wait to be a crowd."""
REST: Final = 1 / 8
"""How long a crowd rests, as a share of the time for which it has worked.

Chosen by `tests/benchmarks/test_push_rests.py`.
"""
LEAST_REST_SECONDS: Final = 0.001
"""Shorter rests are put off until together they are as long, since timers are no finer."""
SHARE: Final = 0.5
LONGEST_SECONDS: Final = 0.1
"""How long turns may take each time the loop goes round, if there is more than one."""
COST_MEMORY: Final = 0.9
"""How much of what turns have cost is expected of the next ones, if these cost less."""
REACH: Final = 4
LAST: Final = 1 << 62
"""More than any connection has to send: for what can wait."""

Turn = asyncio.Future[None]


class Turns:
    """Gives turns each time the event loop goes round. It costs nothing while nobody asks."""

    __slots__ = (
        "_allowed",
        "_asked",
        "_began_at",
        "_cost",
        "_ended_at",
        "_given",
        "_is_giving",
        "_numbers",
        "_owed",
        "_round",
        "_waiting",
    )

    def __init__(self) -> None:
        self._asked: list[tuple[int, int, Turn]] = []
        """The turns asked for by rank, and some that nobody waits for any more."""
        self._numbers = count()
        self._waiting = 0
        self._given = 0
        self._is_giving = False
        self._round = 0
        """How many turns were given last."""
        self._cost = 0.0
        """How long one takes, rather more than less."""
        # On the thread's own time, which is not that of other processes.
        self._began_at = self._ended_at = 0.0
        self._allowed = 0.0
        """For how long turns may be given at once."""
        self._owed = 0.0
        """For how long none should be given."""

    def ask(self, *, backlog: int = 0) -> Turn:
        """Return what is done when it is the turn of a caller that has so much to send.

        It may be done before, by whatever makes waiting for a turn pointless.
        """
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        turn.add_done_callback(self._leave)
        self._waiting += 1
        rank = self._given + min(backlog, REACH * max(self._waiting, CROWD))
        heappush(self._asked, (rank, next(self._numbers), turn))
        if not self._is_giving:
            self._is_giving = True
            self._ended_at = thread_time()
            self._allowed = self._owed = 0.0
            loop.call_soon(self._give, loop)
        return turn

    @property
    def is_crowded(self) -> bool:
        """Whether so many wait that turns should be short."""
        return self._waiting >= CROWD

    def __len__(self) -> int:
        """Return how many wait."""
        return self._waiting

    def _leave(self, _: Turn) -> None:
        self._waiting -= 1

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give turns, all in the next round of the loop."""
        turns = self._next_turns(int(self._allowed / self._cost) if self._cost else 1)
        if not turns:
            self._is_giving = False
            return
        # These run one right after the other: the loop keeps the order of what is to be called.
        self._round = len(turns)
        loop.call_soon(self._begin)
        for turn in turns:
            turn.set_result(None)
        loop.call_soon(self._end, loop)

    def _begin(self) -> None:
        self._began_at = thread_time()
        others = self._began_at - self._ended_at
        self._allowed = min(self._allowed + SHARE * others, LONGEST_SECONDS)
        self._owed = max(self._owed - others, 0.0)

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ended_at = thread_time()
        took = self._ended_at - self._began_at
        self._cost = max(took / self._round, COST_MEMORY * self._cost)
        self._allowed = max(self._allowed - took, 0.0)
        is_tired = self._owed >= LEAST_REST_SECONDS  # of turns before, whatever happened since
        self._owed += REST * took
        if is_tired and self.is_crowded:
            loop.call_later(self._owed, self._rested, loop)
        else:
            self._give(loop)

    def _rested(self, loop: asyncio.AbstractEventLoop) -> None:
        self._owed = 0.0
        self._give(loop)

    def _next_turns(self, most: int) -> list[Turn]:
        """Return the next turns, up to `most` but at least one, if any are waited for."""
        turns: list[Turn] = []
        while self._asked and len(turns) < max(most, 1):
            turn = heappop(self._asked)[2]
            if not turn.done():
                turns.append(turn)
        self._given += len(turns)
        return turns
