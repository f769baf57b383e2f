"""Turns for connections that are behind, so that they do not delay those that keep up.

A connection that keeps up is sent an update at once. A connection that is behind has much to send
whenever it may send. Two hundred slow clients would keep the event loop busy for long, while a fast
client waits. So connections that are behind take turns. In its turn a connection sends one message,
and a shorter one while many wait (a crowd). Updates that arrive while it waits supersede older
ones, as usual.

The event loop gives one turn per round. It gives more if they take less than `SHARE` of the time of
everything else. Otherwise, when senders never pause, a round takes tenths of a second, and the last
of a hundred clients would wait a minute for its turn. A crowd that has worked rests for some time,
to leave time for those that keep up. All other work of the loop counts as rest.

The connection with the least to send goes first, so that a fast client that fell behind soon keeps
up again. No connection waits for ever: later ones go first for at most as many turns as it has
updates to send, and for at most `REACH` turns per waiting connection.
"""

from __future__ import annotations

import asyncio
from heapq import heappop, heappush
from itertools import count
from time import thread_time
from typing import Final

CROWD: Final = 8
"""How many must wait to be a crowd."""
REST: Final = 1 / 8
"""How long a crowd rests, as a share of the time for which it has worked.

Chosen by `tests/benchmarks/test_push_rests.py`.
"""
LEAST_REST_SECONDS: Final = 0.001
"""Shorter rests are added up to this length, since timers are no finer."""
SHARE: Final = 0.5
LONGEST_SECONDS: Final = 0.1
"""The longest time for turns in one round of the loop, if there is more than one."""
COST_MEMORY: Final = 0.9
"""The share of an earlier turn's cost that the next ones are expected to have at least."""
REACH: Final = 4
LAST: Final = 1 << 62
"""More than any connection has to send: for what can wait."""

Turn = asyncio.Future[None]


class Turns:
    """Gives turns in each round of the event loop. It costs nothing while none is asked for."""

    def __init__(self) -> None:
        self._asked: list[tuple[int, int, Turn]] = []
        """The turns asked for, by rank. Some of them may be cancelled."""
        self._numbers = count()
        self._waiting = 0
        self._given = 0
        self._is_giving = False
        self._round = 0
        """How many turns were given last."""
        self._cost = 0.0
        """An upper estimate of the time that a turn takes."""
        # Measured by the thread's own time, without that of other processes.
        self._began_at = self._ended_at = 0.0
        self._allowed = 0.0
        """For how long turns may be given at once."""
        self._owed = 0.0
        """For how long no turn should be given."""

    def ask(self, *, backlog: int = 0) -> Turn:
        """Return a future that is done when it is the turn of a caller with this backlog.

        The caller may end it earlier if it no longer needs the turn.
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
        # These run right after one another, since the loop keeps the order of its calls.
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
        is_tired = self._owed >= LEAST_REST_SECONDS  # from turns before, whatever happened since
        self._owed += REST * took
        if is_tired and self.is_crowded:
            loop.call_later(self._owed, self._rested, loop)
        else:
            self._give(loop)

    def _rested(self, loop: asyncio.AbstractEventLoop) -> None:
        self._owed = 0.0
        self._give(loop)

    def _next_turns(self, most: int) -> list[Turn]:
        """Return the next turns that are waited for: at most `most`, but at least one."""
        turns: list[Turn] = []
        while self._asked and len(turns) < max(most, 1):
            turn = heappop(self._asked)[2]
            if not turn.done():
                turns.append(turn)
        self._given += len(turns)
        return turns
