"""Arrivals drawn at random: memoryless, at fixed intervals, by ticks, in bursts, at changing rates.

Each has one arrival per unit of time on average. That is why the number of updates is about how
long a run takes, and why the processing cost is the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ..errors import OptionError
from .workload import Arrivals, Floats, Integers, rounded_down

DRAWN_AT_ONCE: Final = 4096
LONGEST_PERIOD: Final = 10_000_000
SHORTEST_TICK: Final = 0.001
"""With shorter ticks an arrival is so rare that drawing all ticks takes too long."""
LONGEST_STRETCH: Final = 65_536.0
"""The longest time drawn at once, if bursts are further apart than that."""


class _Shared:
    """Keys that are numbers, and update by fixed shares."""

    __slots__ = ("keys", "rates")

    is_memoryless = False

    def __init__(self, shares: Floats) -> None:
        assert len(shares) > 0, "no keys"
        assert abs(shares.sum() - 1.0) < 1e-9, "shares that do not add up to 1"
        self.keys = range(len(shares))
        self.rates = shares


class Poisson(_Shared):
    """Memoryless arrivals: exponential times between them, keys independent of the past.

    >>> from simulator.workloads.workload import uniform
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

    def __init__(self, shares: Floats) -> None:
        assert np.ptp(shares) == 0, "keys that come in turn have equal shares"
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

    def __init__(self, shares: Floats, *, tick: float = 1.0) -> None:
        super().__init__(shares)
        busiest = float(shares.max())
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


class Bursts(_Shared):
    """The slowest keys update all in one burst, the others memorylessly in between.

    This is the case that LINECUTTING was made for (report, 5.3).

    Together they have the rates that `shares` says, the bursting keys an equal part each: a burst
    brings one update of each of the `bursting` slowest keys, in random order, at uniform times
    within `spread`; bursts begin at memoryless times, as often as the rates of their keys say.
    """

    __slots__ = ("_interval", "_steady", "bursting", "spread")

    def __init__(self, shares: Floats, *, bursting: int, spread: float = 0.0) -> None:
        super().__init__(shares)
        keys = len(shares)
        if not 1 <= bursting <= keys:
            raise OptionError("bursting", bursting, f"a number of keys, from 1 to {keys}")
        self.bursting = bursting
        self.spread = spread
        order = np.argsort(-shares, kind="stable")
        slow = order[keys - bursting :]
        self.rates = shares.copy()
        self.rates[slow] = shares[slow].sum() / bursting
        self._interval = 1.0 / float(self.rates[slow[0]])
        if not 0 <= spread <= self._interval:
            expected = f"a number from 0 to {self._interval:g}, the mean time between two bursts"
            raise OptionError("spread", spread, expected)
        self._steady: Integers = np.sort(order[: keys - bursting])

    @property
    def interval(self) -> float:
        """The mean time between two bursts."""
        return self._interval

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Draw the arrivals, as many at a time as come from one burst to the next."""
        slow = np.setdiff1d(np.arange(len(self.keys)), self._steady)
        kept = Arrivals(np.empty(0), np.empty(0, dtype=np.int64))
        start = 0.0
        burst = random.exponential(self._interval)
        while True:
            end = min(burst, start + LONGEST_STRETCH)
            parts = [kept, self._steady_arrivals(start, end, random)]
            if end == burst:
                times = end + random.random(len(slow)) * self.spread
                parts.append(Arrivals(times, random.permutation(slow)))
                burst = end + random.exponential(self._interval)
            drawn = _merged(parts)
            until = np.searchsorted(drawn.times, end, side="left")
            yield Arrivals(drawn.times[:until], drawn.codes[:until])
            kept = Arrivals(drawn.times[until:], drawn.codes[until:])
            start = end

    def _steady_arrivals(self, start: float, end: float, random: np.random.Generator) -> Arrivals:
        """Draw the arrivals between two times, without bursts and in no order."""
        rates = self.rates[self._steady]
        rate = float(rates.sum())
        count = random.poisson((end - start) * rate)
        times = start + random.random(count) * (end - start)
        if not count:
            return Arrivals(times, self._steady[:0])
        return Arrivals(times, random.choice(self._steady, count, p=rates / rate))


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


def _merged(parts: list[Arrivals]) -> Arrivals:
    times = np.concatenate([part.times for part in parts])
    codes = np.concatenate([part.codes for part in parts])
    order = np.argsort(times, kind="stable")
    return Arrivals(times[order], codes[order])
