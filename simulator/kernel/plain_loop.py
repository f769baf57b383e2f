"""The event loop `plain`: a heap of times and processes, and nothing else.

It does the same as the SimPy loop, event by event and to the last bit of each time, and costs less
(`tests/benchmarks/test_simulation.py`).
"""

from __future__ import annotations

import heapq
from collections import deque

from .event_loop import ARRIVALS, WORK, Process

Wish = tuple[float, int]
"""A delay and a rank."""


class PlainBell:
    """Idle processes of a plain loop wait at a bell until it is rung."""

    __slots__ = ("_loop", "sleepers")

    def __init__(self, loop: PlainLoop) -> None:
        self._loop = loop
        self.sleepers: deque[Process] = deque()
        """The processes that wait, longest first."""

    def wait(self) -> PlainBell:
        """Return the object that a process yields to sleep until the bell is rung."""
        return self

    def ring(self) -> None:
        """Wake the process that has waited longest, now, after the arrivals of this moment."""
        if self.sleepers:
            self._loop.schedule(self.sleepers.popleft(), WORK)


class PlainLoop:
    """Processes by the time at which they continue, then by rank, then in the order of asking.

    >>> loop = PlainLoop()
    >>> def sleep():
    ...     yield loop.work_for(2.0)
    >>> loop.run(sleep())
    >>> loop.now
    2.0
    """

    __slots__ = ("_entries", "_heap", "now")

    def __init__(self) -> None:
        self.now = 0.0
        """The time."""
        self._entries = 0
        self._heap: list[tuple[float, int, int, Process]] = []

    @staticmethod
    def arrival_after(delay: float) -> Wish:
        """Return the object that a process yields to continue after a delay, as an arrival."""
        return delay, ARRIVALS

    @staticmethod
    def work_for(delay: float) -> Wish:
        """Return the object that a process yields to continue after a delay, its work done."""
        return delay, WORK

    def bell(self) -> PlainBell:
        """Return a new bell."""
        return PlainBell(self)

    def start(self, process: Process) -> None:
        """Let a process begin when the loop runs; not to be called by a process."""
        self.schedule(process, 0)

    def schedule(self, process: Process, rank: int) -> None:
        """Let a process continue at this moment, after those of lower ranks."""
        self._entries += 1
        heapq.heappush(self._heap, (self.now, rank, self._entries, process))

    def run(self, main: Process) -> None:
        """Start one more process, and let everything happen until that one has ended."""
        end = _end()
        self.start(main)
        heap, pop, replace = self._heap, heapq.heappop, heapq.heapreplace
        while heap:
            # The first entry stays until its process has said when it goes on: replacing costs
            # half of taking and adding. What is added meanwhile sorts after it.
            self.now, _, _, process = heap[0]
            wish = next(process, None)
            if type(wish) is tuple:
                self._entries += 1
                replace(heap, (self.now + wish[0], wish[1], self._entries, process))
                continue
            pop(heap)
            if process is end:
                return
            if wish is not None:
                wish.sleepers.append(process)
            elif process is main:  # as in SimPy, the other events of this moment still happen
                self.schedule(end, ARRIVALS)
        raise AssertionError("the main process waits for ever")


def _end() -> Process:
    yield from ()
