"""Zipf's law fitted to counts: a theta such that the key of rank r has about r to the -theta.

By maximum likelihood: of all updates of the keys that are looked at, each is of rank r with
probability r^-θ / Σ r^-θ. The likelihood depends on the counts by the mean of ln r over the updates
only, and is largest where the law's own mean of ln r is the same. A line through the points of a
log-log plot, as often drawn, gives each of the many slow keys as much weight as the busiest, and is
far off.

Ranks are those of the counts seen, which by chance are steeper than the law: a key that happened to
be updated less often comes later. So only keys with enough updates are looked at, whose ranks are
about right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FEWEST_UPDATES: Final = 10
FEWEST_KEYS: Final = 10
STEEPEST: Final = 20.0
_EXACT: Final = 100_000
_PARTS: Final = 2_000
_STEPS: Final = 60


@dataclass(frozen=True, slots=True)
class FitSums:
    """What the fit needs to know of the keys it looks at."""

    keys: int
    updates: int
    logs: float
    """The sum over updates of the logarithm of their key's rank."""


@dataclass(frozen=True, slots=True)
class ZipfFit:
    """The theta of Zipf's law, and of how many keys it is."""

    theta: float
    keys: int


def fit_zipf(sums: FitSums) -> ZipfFit | None:
    """Return the theta of largest likelihood, from 0 to 20; None if there are too few keys.

    >>> counts = [round(1e6 / rank**0.9) for rank in range(1, 101)]
    >>> logs = sum(count * float(np.log(rank)) for rank, count in enumerate(counts, 1))
    >>> round(fit_zipf(FitSums(100, sum(counts), logs)).theta, 3)
    0.9
    """
    if sums.keys < FEWEST_KEYS:
        return None
    ranks, weights = _ranks(sums.keys)
    logs = np.log(ranks)
    wanted = sums.logs / sums.updates
    low, high = 0.0, STEEPEST
    for _ in range(_STEPS):
        theta = (low + high) / 2
        shares = weights * np.exp(-theta * logs)
        if float(shares @ logs) / float(shares.sum()) > wanted:
            low = theta
        else:
            high = theta
    return ZipfFit((low + high) / 2, sums.keys)


def _ranks(keys: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ranks and how many each stands for: high ones stand for those around them."""
    exact = np.arange(1.0, min(keys, _EXACT) + 1)
    if keys <= _EXACT:
        return exact, np.ones(keys)
    edges = np.geomspace(_EXACT + 0.5, keys + 0.5, _PARTS + 1)
    middles = np.sqrt(edges[1:] * edges[:-1])
    return np.concatenate((exact, middles)), np.concatenate((np.ones(_EXACT), np.diff(edges)))
