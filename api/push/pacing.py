"""The pace of one connection: how many updates per second it may get, and how many it gets.

A bucket of allowances fills at the rate asked for, and holds what accrues in `BURST_SECONDS`, but
at least one. So the bound holds over any longer time, and a connection that was idle gains little.
High rates are spent in portions, since a message for each update would be too costly.
"""

from __future__ import annotations

import math
from typing import Final

BURST_SECONDS: Final = 0.05
PORTION_SECONDS: Final = 0.02
MEMORY_SECONDS: Final = 5.0
"""How long the measured pace remembers."""
ROUNDING_SECONDS: Final = 1e-6
"""How far rounding may shift times, so that what is due at a time is due then."""


class RateAllowance:
    """How many updates may be sent now, and when the next; `rate` is in updates per second.

    >>> allowance = RateAllowance(10.0, now=0.0)
    >>> allowance.at(0.0)
    1
    >>> allowance.spend(1)
    >>> allowance.at(0.0), allowance.next_due()
    (0, 0.1)
    """

    __slots__ = ("_as_of", "_held", "_most", "_portion", "_rate")

    def __init__(self, rate: float, *, now: float) -> None:
        self._rate = rate
        self._most = max(rate * BURST_SECONDS, 1.0)
        self._portion = max(rate * PORTION_SECONDS, 1.0)
        self._held = self._most
        self._as_of = now

    def at(self, now: float) -> int:
        """Return how many updates may be sent at `now`; 0 while it is less than a portion."""
        self._held = min(self._held + (now - self._as_of) * self._rate, self._most)
        self._as_of = now
        held = self._held + ROUNDING_SECONDS * self._rate
        return int(held) if held >= self._portion else 0

    def spend(self, updates: int) -> None:
        """Note that this many were sent."""
        self._held -= updates

    def next_due(self) -> float:
        """Return when the next portion may be sent, as of the last call of `at`."""
        return self._as_of + max(self._portion - self._held, 0.0) / self._rate


class MeasuredPace:
    """Recent updates per second. Older ones count less and less.

    >>> pace = MeasuredPace(now=0.0)
    >>> pace.note(50, now=5.0)
    >>> round(pace.at(5.0), 1)
    15.8
    """

    __slots__ = ("_as_of", "_started", "_weight")

    def __init__(self, *, now: float) -> None:
        self._started = self._as_of = now
        self._weight = 0.0

    def note(self, updates: int, now: float) -> None:
        """Note that this many were sent."""
        self._weight = self._faded(now) + updates
        self._as_of = now

    def at(self, now: float) -> float:
        """Return the pace."""
        # As much as fits into the memory so far, which is less at the beginning.
        seconds = MEMORY_SECONDS * -math.expm1((self._started - now) / MEMORY_SECONDS)
        return self._faded(now) / seconds if seconds > 0 else 0.0

    def _faded(self, now: float) -> float:
        return self._weight * math.exp((self._as_of - now) / MEMORY_SECONDS)
