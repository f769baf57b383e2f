"""Event loops: their interface, two of them, and the clock that gives the queues their time.

`PlainLoop` is a heap of times and processes. It does the same as `SimPyLoop`, event by event and to
the last bit of each time, and costs less (`tests/benchmarks/test_simulation.py`).

A *process* is a generator, as in SimPy. It yields an object that its loop has made and that it
waits for, and continues when that has happened. The same processes run on every loop.

At one moment arrivals happen first, then finished updates are delivered, and then the next key is
served, in the order of the report's figures 2 and 12. So a process waits for the time of an arrival
with `arrival_after`, and for the end of its work with `work_for`.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Sized
from functools import partial
from typing import Any, Final, Protocol

import simpy

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

    >>> from simulator.kernel.event_loop import PlainLoop
    >>> SimulationClock(PlainLoop()).now()
    0.0
    """

    __slots__ = ("_loop",)

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        """Return the simulated time."""
        return self._loop.now


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


class _WorkDone(simpy.Event):
    """A timeout that comes after the arrivals of its moment, as SimPy's own do not."""

    def __init__(self, environment: simpy.Environment, delay: float) -> None:
        # Made as `simpy.Timeout` is, which has no parameter for the priority.
        self.env = environment
        self.callbacks = []
        self._value = None
        self._ok = True
        environment.schedule(self, WORK, delay)  # type: ignore[arg-type]  # any integer will do


class SimPyBell:
    """Idle processes of a SimPy loop wait at a bell until it is rung."""

    __slots__ = ("_environment", "sleepers")

    def __init__(self, environment: simpy.Environment) -> None:
        self._environment = environment
        self.sleepers: deque[simpy.Event] = deque()
        """The processes that wait, longest first."""

    def wait(self) -> simpy.Event:
        """Return the object that a process yields to sleep until the bell is rung."""
        sleeper = simpy.Event(self._environment)
        self.sleepers.append(sleeper)
        return sleeper

    def ring(self) -> None:
        """Wake the process that has waited longest, now, after the arrivals of this moment."""
        if self.sleepers:
            sleeper = self.sleepers.popleft()
            sleeper._ok, sleeper._value = True, None
            self._environment.schedule(sleeper, WORK)  # type: ignore[arg-type]


class SimPyLoop:
    """A SimPy environment that runs the processes of a simulation.

    >>> loop = SimPyLoop()
    >>> def sleep():
    ...     yield loop.work_for(2.0)
    >>> loop.run(sleep())
    >>> loop.now
    2.0
    """

    __slots__ = ("_environment", "arrival_after", "work_for")

    def __init__(self) -> None:
        environment = self._environment = simpy.Environment(0.0)
        self.arrival_after: Callable[[float], object] = partial(simpy.Timeout, environment)
        self.work_for: Callable[[float], object] = partial(_WorkDone, environment)

    @property
    def now(self) -> float:
        """The time."""
        return self._environment.now

    def bell(self) -> SimPyBell:
        """Return a new bell."""
        return SimPyBell(self._environment)

    def start(self, process: Process) -> None:
        """Let a process begin when the loop runs; not to be called by a process."""
        self._environment.process(process)

    def run(self, main: Process) -> None:
        """Start one more process, and let everything happen until that one has ended."""
        self._environment.run(until=self._environment.process(main))
