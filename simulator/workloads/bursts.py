"""Slow updaters that update all at once: the case that LINECUTTING was made for (report, 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ..errors import OptionError
from .key_rates import KeyShares
from .workload import Arrivals, Floats, Integers

LONGEST_STRETCH: Final = 65_536.0
"""The longest time drawn at once, if bursts are further apart than that."""


class Bursts:
    """The slowest keys update all in one burst, the others memorylessly in between.

    Together they have the rates that `shares` says, the bursting keys an equal part each: a burst
    brings one update of each of the `bursting` slowest keys, in random order, at uniform times
    within `spread`; bursts begin at memoryless times, as often as the rates of their keys say.
    """

    __slots__ = ("_interval", "_steady", "bursting", "keys", "rates", "spread")

    is_memoryless = False

    def __init__(self, shares: KeyShares, *, bursting: int, spread: float = 0.0) -> None:
        if not 1 <= bursting <= shares.keys:
            raise OptionError("bursting", bursting, f"a number of keys, from 1 to {shares.keys}")
        self.keys = range(shares.keys)
        self.bursting = bursting
        self.spread = spread
        order = np.argsort(-shares.shares, kind="stable")
        slow = order[shares.keys - bursting :]
        self.rates: Floats = shares.shares.copy()
        self.rates[slow] = shares.shares[slow].sum() / bursting
        self._interval = 1.0 / float(self.rates[slow[0]])
        if not 0 <= spread <= self._interval:
            expected = f"a number from 0 to {self._interval:g}, the mean time between two bursts"
            raise OptionError("spread", spread, expected)
        self._steady: Integers = np.sort(order[: shares.keys - bursting])

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


def _merged(parts: list[Arrivals]) -> Arrivals:
    times = np.concatenate([part.times for part in parts])
    codes = np.concatenate([part.codes for part in parts])
    order = np.argsort(times, kind="stable")
    return Arrivals(times[order], codes[order])
