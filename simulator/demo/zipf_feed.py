"""A feed of updates whose keys follow Zipf's law, drawn from a seed.

The key of rank r updates at a rate in proportion to r to the power of minus theta. Arrivals are
memoryless: the time to the next one is exponential, and its key does not depend on the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..workloads.key_rates import zipf
from ..workloads.sources import Poisson


class Arrival(NamedTuple):
    """One update of the feed."""

    due_seconds: float
    """When it arrives, counted from the start of the feed."""
    key: str
    value: int
    """How many updates came before it."""


class ZipfFeed:
    """An endless feed: the same for the same parameters, every time that it is iterated over.

    >>> feed = ZipfFeed(keys=3, theta=1.0, updates_per_second=11.0, seed=0)
    >>> {key: round(rate, 9) for key, rate in feed.rates.items()}
    {'key-1': 6.0, 'key-2': 3.0, 'key-3': 2.0}
    >>> next(iter(feed)) == next(iter(feed))
    True
    """

    __slots__ = ("_seed", "_updates_per_second", "_workload", "keys")

    def __init__(self, *, keys: int, theta: float, updates_per_second: float, seed: int) -> None:
        self._updates_per_second = updates_per_second
        self._workload = Poisson(zipf(keys, theta))
        self._seed = seed
        self.keys = tuple(f"key-{rank:0{len(str(keys))}}" for rank in range(1, keys + 1))
        """The keys by rank, the busiest first."""

    @property
    def rates(self) -> dict[str, float]:
        """The update rate of each key, in updates per second."""
        rates = self._updates_per_second * self._workload.rates
        return dict(zip(self.keys, rates.tolist(), strict=True))

    def __iter__(self) -> Iterator[Arrival]:
        value = 0
        for times, ranks in self._workload.arrivals(np.random.default_rng(self._seed)):
            dues = times / self._updates_per_second
            for due, rank in zip(dues.tolist(), ranks.tolist(), strict=True):
                yield Arrival(due, self.keys[rank], value)
                value += 1
