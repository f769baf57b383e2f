"""Clocks. They are passed in, so the rest of the library never reads the time itself.

Code that needs the time takes a `Clock`. The simulator and the tests pass a clock that they move
themselves, so they run the same code as production.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from .errors import ParameterError


class Clock(Protocol):
    """What the library needs of a clock: the time in float seconds, which should never go back."""

    def now(self) -> float:
        """Return the time in seconds."""
        ...


class SystemClock:
    """The wall time at which the clock was made, plus the monotonic time since then.

    If the wall clock of the machine is set forward or back later, this clock does not move.
    """

    __slots__ = ("_offset",)

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    @property
    def offset(self) -> float:
        """The difference between this clock's time and `time.monotonic()`."""
        return self._offset

    def now(self) -> float:
        """Return the time in seconds since 1970-01-01 UTC."""
        return self._offset + time.monotonic()


class Stopwatch:
    """Measure how long work takes, as exactly as the machine can.

    It measures the machine's time, even where time is simulated and a `ManualClock` stands still.
    Code that measures costs takes a clock for it, so that tests can choose the costs.
    """

    __slots__ = ()

    def now(self) -> float:
        """Return seconds from an arbitrary start; only differences are meaningful."""
        return time.perf_counter()


class ManualClock:
    """A clock that moves only when it is told to. It starts at `start` seconds.

    >>> clock = ManualClock()
    >>> clock.advance(1.5)
    >>> clock.now()
    1.5
    """

    __slots__ = ("_now",)

    def __init__(self, start: float = 0.0) -> None:
        if not math.isfinite(start):
            raise ParameterError("start", start, "a finite number of seconds")
        self._now = float(start)

    def now(self) -> float:
        """Return the time that the clock was last moved to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward by `seconds`."""
        if not (seconds >= 0 and math.isfinite(self._now + seconds)):
            raise ParameterError("seconds", seconds, "a finite number, 0 or more")
        self._now += float(seconds)

    def set(self, now: float) -> None:
        """Move the clock forward to the time `now`."""
        if not (math.isfinite(now) and now >= self._now):
            raise ParameterError("now", now, f"a finite number, {self._now} or later")
        self._now = float(now)


class SteadyTicks:
    """Read a clock that may step back; while it is behind, report its last reading again.

    >>> readings = iter([10.0, 3.0, 11.0])
    >>> ticks = SteadyTicks(lambda: next(readings))
    >>> [ticks(), ticks(), ticks()], ticks.steps_back
    ([10.0, 10.0, 11.0], 1)
    """

    __slots__ = ("_last", "_now", "steps_back")

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last = -math.inf
        self.steps_back = 0
        """How many readings were earlier than a previous one."""

    def __call__(self) -> float:
        """Return the time, or the last reading if the clock has stepped back since."""
        now = float(self._now())  # an integer or a NumPy number becomes a float
        if self._last <= now < math.inf:
            self._last = now
            return now
        if not math.isfinite(now):
            raise ParameterError("the time of the clock", now, "a finite number of seconds")
        self.steps_back += 1
        return self._last

    def again(self) -> float:
        """Return the last reading without reading the clock, so this cannot fail."""
        return self._last


Ticks = Callable[[], float]
"""Returns the time of a clock minus a constant offset. It never goes back."""


def ticks_of(clock: Clock) -> tuple[Ticks, float]:
    """Return the cheapest way to read `clock`, and the offset to add to get the clock's time.

    Each enqueue reads the clock once. For the system clock the function is `time.monotonic` itself,
    which saves a Python call (a sixth of an enqueue). Arrivals and staleness are differences, so
    the offset does not matter to them. Only clocks from outside the library can step back or fail,
    so only their readings are checked.
    """
    if type(clock) is SystemClock:
        return time.monotonic, clock.offset
    if type(clock) is ManualClock:
        return clock.now, 0.0
    return SteadyTicks(clock.now), 0.0


def again_of(ticks: Ticks) -> Ticks:
    """Return a function that repeats the last reading in the middle of an operation."""
    return ticks.again if isinstance(ticks, SteadyTicks) else ticks


def steps_back_of(ticks: Ticks) -> int:
    """Return how many readings of the clock were earlier than a previous one."""
    return ticks.steps_back if isinstance(ticks, SteadyTicks) else 0
