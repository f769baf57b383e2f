"""Clocks, passed in so that the library itself never reads the time of day.

Whatever needs the time takes a `Clock`. The simulator and the tests pass one that they move
themselves, and so drive the very code that runs in production.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from .errors import ParameterError


class Clock(Protocol):
    """What the library asks of a clock: float seconds, which should never go back."""

    def now(self) -> float:
        """Return the time in seconds."""
        ...


class SystemClock:
    """Tell the wall time at which it was made plus the monotonic time since.

    A wall clock that is set forward or back meanwhile moves nothing here.
    """

    __slots__ = ("_offset",)

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    @property
    def offset(self) -> float:
        """Return what to add to `time.monotonic()` to get this clock's time."""
        return self._offset

    def now(self) -> float:
        """Return seconds since 1970-01-01 UTC, as of when the clock was made, plus time since."""
        return self._offset + time.monotonic()


class Stopwatch:
    """Measure what work costs: seconds from no moment in particular, as exactly as can be.

    Costs are those of the machine, also where time is simulated and a `ManualClock` stands still
    meanwhile. Whatever measures costs takes a clock for it, so that tests can say what work costs.
    """

    __slots__ = ()

    def now(self) -> float:
        """Return seconds, of which only differences mean something."""
        return time.perf_counter()


class ManualClock:
    """A clock that moves only when told to.

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
            raise ParameterError("seconds", seconds, "a finite number, zero or more")
        self._now += float(seconds)

    def set(self, now: float) -> None:
        """Move the clock forward to the time `now`."""
        if not (math.isfinite(now) and now >= self._now):
            raise ParameterError("now", now, f"a finite number not before {self._now}")
        self._now = float(now)


class SteadyTicks:
    """Read a clock that may step back, as one that stands still until it has caught up.

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
        """How many readings were earlier than one before them."""

    def __call__(self) -> float:
        """Return the time, or that of the last reading if the clock has stepped back since."""
        now = float(self._now())  # an integer, or a number of NumPy's, becomes a float
        if self._last <= now < math.inf:
            self._last = now
            return now
        if not math.isfinite(now):
            raise ParameterError("what the clock tells", now, "a finite number of seconds")
        self.steps_back += 1
        return self._last

    def again(self) -> float:
        """Return what the last reading told; the clock, which may fail, is not asked."""
        return self._last


Ticks = Callable[[], float]
"""Tells the time of a clock, but for an offset. It never goes back."""


def ticks_of(clock: Clock) -> tuple[Ticks, float]:
    """Return the cheapest reading of `clock`, and what to add to it to get the clock's time.

    An enqueue reads the clock once. For the system clock the reading is `time.monotonic` itself,
    which saves a Python call each time (a sixth of the whole enqueue); arrivals and staleness are
    differences, to which the offset does not matter. Only clocks that are not the library's own
    may step back or fail, so only their readings are looked at.
    """
    if type(clock) is SystemClock:
        return time.monotonic, clock.offset
    if type(clock) is ManualClock:
        return clock.now, 0.0
    return SteadyTicks(clock.now), 0.0


def again_of(ticks: Ticks) -> Ticks:
    """Return what tells the time once more in the middle of an operation, and cannot fail."""
    return ticks.again if isinstance(ticks, SteadyTicks) else ticks


def steps_back_of(ticks: Ticks) -> int:
    """Return how many readings of the clock were earlier than one before them."""
    return ticks.steps_back if isinstance(ticks, SteadyTicks) else 0
