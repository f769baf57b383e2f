"""What is measured of a run: staleness by key, latency, counts, queue length and memory.

Times are in the unit of the run, the mean time between two arrivals, unless `scaled`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from upstream import Key, MemoryUsage, QueueStatistics, WindowQueueStatistics
from upstream.staleness import AgainstBound, against_bound

Floats = NDArray[np.float64]
PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity's mean, percentiles and largest value; all are 0 if there are no values."""

    mean: float
    p50: float
    p90: float
    p99: float
    largest: float

    @classmethod
    def of(cls, values: Floats) -> Spread:
        """Summarise values.

        >>> Spread.of(np.array([1.0, 3.0])).mean
        2.0
        """
        if not len(values):
            return cls(0.0, 0.0, 0.0, 0.0, 0.0)
        p50, p90, p99 = np.percentile(values, PERCENTILES).tolist()
        return cls(float(values.mean()), p50, p90, p99, float(values.max()))


@dataclass(frozen=True, slots=True)
class Mark:
    """What was measured until a moment of the run."""

    now: float
    queue: Mapping[Key, float]
    """The queue staleness of each key, averaged from time 0."""
    application: Mapping[Key, float]
    """The application staleness of each key, averaged from time 0."""
    latencies: int = 0
    """How many updates were delivered."""


def mean_since(mark: Mark, of: str, means: Mapping[Key, float], now: float) -> dict[Key, float]:
    """Return averages from a mark on, from those since time 0.

    >>> mean_since(Mark(1.0, queue={"k": 4.0}, application={}), "queue", {"k": 3.0}, now=2.0)
    {'k': 2.0}
    """
    before = mark.queue if of == "queue" else mark.application
    elapsed = now - mark.now
    if not elapsed:
        return dict.fromkeys(means, 0.0)
    return {key: (mean * now - before[key] * mark.now) / elapsed for key, mean in means.items()}


@dataclass(frozen=True, slots=True)
class Staleness:
    """One kind of staleness: averaged over time for each key, and over keys."""

    by_key: Mapping[Key, float]
    lower_bound: float | None
    """The lower bound on the mean, expected under memoryless arrivals, if known."""
    observed: float
    """For how long it was measured."""

    @property
    def spread(self) -> Spread:
        """The mean, the percentiles and the largest over keys."""
        return Spread.of(np.fromiter(self.by_key.values(), float, len(self.by_key)))

    @property
    def mean(self) -> float:
        """The mean over keys."""
        return sum(self.by_key.values()) / len(self.by_key) if self.by_key else 0.0

    @property
    def worst_key(self) -> Key | None:
        """The key with the largest staleness, None if there is no key."""
        return max(self.by_key, key=lambda key: self.by_key[key], default=None)

    @property
    def worst(self) -> float:
        """The largest staleness of a key."""
        return max(self.by_key.values(), default=0.0)

    @property
    def times_the_bound(self) -> float | None:
        """The mean over its bound, None where that is 0 or not known, or the run too short."""
        return self.against_bound.times

    @property
    def against_bound(self) -> AgainstBound:
        """How the mean compares with its bound."""
        return against_bound(self.mean, self.lower_bound, observed=self.observed)


@dataclass(frozen=True, slots=True)
class Measures:
    """The measurements of one subscriber."""

    name: str
    """The policy, or the name of the subscriber."""
    elapsed: float
    """From the start of the run to its end."""
    queue: Staleness
    application: Staleness
    latency: Spread
    """Of the updates delivered: the time from arrival to delivery."""
    statistics: QueueStatistics | WindowQueueStatistics
    lengths: tuple[tuple[float, int], ...]
    """Times spread evenly over the measured part of the run, and how many updates waited then."""
    memory: MemoryUsage | None
    """None where values are Python references."""

    @property
    def counted(self) -> QueueStatistics:
        """The counters of a queue of updates."""
        assert isinstance(self.statistics, QueueStatistics), "a queue of windows"
        return self.statistics

    @property
    def mean_length(self) -> float:
        """The mean of the queue lengths seen."""
        return sum(length for _, length in self.lengths) / len(self.lengths or [0])
