"""Arrivals drawn at random: memoryless, at a fixed interval, by ticks, and at rates that change.

Each has one arrival per unit of time on average. That is why the number of updates is about how
long a run takes, and why the processing cost is the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ..errors import OptionError
from .key_rates import KeyShares
from .workload import Arrivals, Floats, Integers, rounded_down

DRAWN_AT_ONCE: Final = 4096
LONGEST_PERIOD: Final = 10_000_000
SHORTEST_TICK: Final = 0.001
"""With shorter ticks an arrival is so rare that drawing all ticks takes too long."""


class _Shared:
    """Keys that are numbers, and update by fixed shares."""

    __slots__ = ("keys", "rates")

    is_memoryless = False

    def __init__(self, shares: KeyShares) -> None:
        self.keys = range(shares.keys)
        self.rates = shares.shares


class Poisson(_Shared):
    """Memoryless arrivals: exponential times between them, keys independent of the past.

    >>> from simulator.workloads.key_rates import uniform
    >>> times, codes = next(Poisson(uniform(10)).arrivals(np.random.default_rng(1)))
    >>> bool(0.9 < times[-1] / len(times) < 1.1)
    True
    """

    __slots__ = ()

    is_memoryless = True

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Draw the arrivals, some at a time."""
        steps = _steps(self.rates)
        start = 0.0
        while True:
            times = start + random.exponential(1.0, DRAWN_AT_ONCE).cumsum()
            start = float(times[-1])
            yield Arrivals(times, _draw_codes(steps, random))


class FixedInterval(_Shared):
    """One arrival at 0, 1, 2, and so on, for a key drawn by its share.

    This is the report's model: arrivals of a key are Bernoulli trials, and each tick has one.
    """

    __slots__ = ()

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Draw the arrivals, some at a time."""
        steps = _steps(self.rates)
        for times in _ticks():
            yield Arrivals(times, _draw_codes(steps, random))


class RoundRobin(_Shared):
    """One arrival at 0, 1, 2, and so on, the keys in turn: "1, 2, 1, 2, etc"."""

    __slots__ = ()

    def __init__(self, shares: KeyShares) -> None:
        assert np.ptp(shares.shares) == 0, "keys that come in turn have equal shares"
        super().__init__(shares)

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Return the arrivals, some at a time; nothing in them is random."""
        for times in _ticks():
            yield Arrivals(times, times.astype(np.int64) % len(self.keys))


class Bernoulli(_Shared):
    """At each tick each key arrives or not, independently; a tick may have several, or none.

    The ticks are 0, 1, 2, and so on, times `tick`. Within a tick the order is random.
    """

    __slots__ = ("tick",)

    def __init__(self, shares: KeyShares, *, tick: float = 1.0) -> None:
        super().__init__(shares)
        busiest = float(shares.shares.max())
        if not (tick >= SHORTEST_TICK and tick * busiest <= 1):
            reason = "because the busiest key arrives once a tick"
            expected = f"at least {SHORTEST_TICK:g} and at most {1 / busiest:g}, {reason}"
            raise OptionError("tick", tick, expected)
        self.tick = tick

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Draw the arrivals, some at a time."""
        tick = rounded_down(self.tick)
        chances = self.rates * self.tick
        rows = max(1, DRAWN_AT_ONCE // len(chances))
        start = 0
        while True:
            row, codes = np.nonzero(random.random((rows, len(chances))) < chances)
            order = np.lexsort((random.random(len(codes)), row))
            times = np.asarray((start + row[order]) * tick, dtype=np.float64)
            yield Arrivals(times, codes[order])
            start += rows


class ChangingRates:
    """Poisson arrivals whose shares change every `period`, in turn and without end."""

    __slots__ = ("_phases", "keys", "period", "rates")

    is_memoryless = False

    def __init__(self, phases: Sequence[Floats], *, period: float) -> None:
        if not 0 < period <= LONGEST_PERIOD:
            raise OptionError("period", period, f"a number above 0, at most {LONGEST_PERIOD:,}")
        assert len(phases) > 0, "no phases"
        self._phases = list(phases)
        self.period = period
        self.keys = range(len(phases[0]))
        self.rates: Floats = np.mean(self._phases, axis=0)

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Draw the arrivals, one phase at a time."""
        steps = [_steps(shares) for shares in self._phases]
        phase = 0
        while True:
            count = random.poisson(self.period)
            times = (phase + np.sort(random.random(count))) * self.period
            codes = _draw_codes(steps[phase % len(steps)], random, count)
            yield Arrivals(np.asarray(times, dtype=np.float64), codes)
            phase += 1


def _ticks() -> Iterator[Floats]:
    start = 0
    while True:
        yield np.arange(start, start + DRAWN_AT_ONCE, dtype=np.float64)
        start += DRAWN_AT_ONCE


def _steps(shares: Floats) -> Floats:
    """Return the sums of the shares so far, of which the last is exactly 1."""
    steps = shares.cumsum()
    steps /= steps[-1]
    return steps


def _draw_codes(steps: Floats, random: np.random.Generator, count: int = DRAWN_AT_ONCE) -> Integers:
    return np.searchsorted(steps, random.random(count), side="right")
