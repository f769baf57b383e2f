"""What a simulation asks of an event loop, and the clock that tells its time to the queues.

A *process* is a generator, as in SimPy: it yields what it waits for, which its loop has made, and
goes on when that has come. The same processes run on every loop.

At one moment arrivals come first, then what was processed is delivered, and then the next key is
served, in the order of the report's figures 2 and 12. So a process waits for the time of an arrival
with `arrival_after`, and for the end of its work with `work_for`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sized
from typing import Any, Final, Protocol

Process = Generator[Any, None, None]
"""A process yields what its loop has made, and is sent nothing."""

ARRIVALS: Final = 1
WORK: Final = 2
"""The ranks of what happens at one moment, the first first; the former is SimPy's own default."""


class Bell(Protocol):
    """Where idle processes wait to be called."""

    def wait(self) -> object:
        """Return what a process yields to sleep until the bell is rung."""
        ...

    @property
    def sleepers(self) -> Sized:
        """Who waits for the bell."""
        ...

    def ring(self) -> None:
        """Wake who has waited longest, at this moment, after the arrivals of the moment."""
        ...


class EventLoop(Protocol):
    """A simulated time, and the processes that happen in it."""

    @property
    def now(self) -> float:
        """The time."""
        ...

    @property
    def arrival_after(self) -> Callable[[float], object]:
        """What makes, from a delay, what a process yields to go on then as an arrival."""
        ...

    @property
    def work_for(self) -> Callable[[float], object]:
        """What makes, from a delay, what a process yields to go on then, its work being done."""
        ...

    def bell(self) -> Bell:
        """Return a new bell."""
        ...

    def start(self, process: Process) -> None:
        """Let a process begin when the loop runs; not to be called by a process."""
        ...

    def run(self, main: Process) -> None:
        """Start one more process, and let everything happen until that one has ended."""
        ...


class SimulationClock:
    """Tell the time of an event loop to the queues that are simulated.

    >>> from simulator.kernel.plain_loop import PlainLoop
    >>> SimulationClock(PlainLoop()).now()
    0.0
    """

    __slots__ = ("_loop",)

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        """Return the simulated time."""
        return self._loop.now
