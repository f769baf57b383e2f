"""The interface of event loops, and the clock that gives the queues their time.

A *process* is a generator, as in SimPy. It yields an object that its loop has made and that it
waits for, and continues when that has happened. The same processes run on every loop.

At one moment arrivals happen first, then finished updates are delivered, and then the next key is
served, in the order of the report's figures 2 and 12. So a process waits for the time of an arrival
with `arrival_after`, and for the end of its work with `work_for`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sized
from typing import Any, Final, Protocol

Process = Generator[Any, None, None]
"""A process yields objects that its loop has made, and is sent nothing."""

ARRIVALS: Final = 1
WORK: Final = 2
"""The ranks of events at one moment; the lower one is first, and is SimPy's own default."""


class Bell(Protocol):
    """Idle processes wait at a bell until it is rung."""

    def wait(self) -> object:
        """Return the object that a process yields to sleep until the bell is rung."""
        ...

    @property
    def sleepers(self) -> Sized:
        """The processes that wait."""
        ...

    def ring(self) -> None:
        """Wake the process that has waited longest, now, after the arrivals of this moment."""
        ...


class EventLoop(Protocol):
    """A simulated time, and the processes that run in it."""

    @property
    def now(self) -> float:
        """The time."""
        ...

    @property
    def arrival_after(self) -> Callable[[float], object]:
        """Turns a delay into the object that a process yields to continue then as an arrival."""
        ...

    @property
    def work_for(self) -> Callable[[float], object]:
        """Turns a delay into the object that a process yields to continue then, its work done."""
        ...

    def bell(self) -> Bell:
        """Return a new bell."""
        ...

    def start(self, process: Process) -> None:
        """Let a process begin when the loop runs; a process must not call this."""
        ...

    def run(self, main: Process) -> None:
        """Start one more process, and run all processes until that one has ended."""
        ...


class SimulationClock:
    """Gives the simulated queues the time of an event loop.

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
