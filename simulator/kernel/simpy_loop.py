"""SimPy as the event loop of simulations: an environment, and processes in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

import simpy

from .event_loop import WORK, Process


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
    """Where idle processes of a SimPy loop wait to be called."""

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
