"""The keys of a workload, and how the updates are shared out among them.

Shares are relative to the whole: their sum is one. Which keys are busy is known from the order, the
busiest first, so that a plot over keys needs no sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError

Floats = NDArray[np.float64]

LARGEST_RATIO: Final = 1_000_000_000
"""Of the rates of two keys; its reciprocal is the smallest."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyShares:
    """The share of the updates that each key has; a key is its number, the busiest is 0."""

    shares: Floats

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return len(self.shares)

    def __post_init__(self) -> None:
        assert len(self.shares) > 0, "no keys"
        assert abs(self.shares.sum() - 1.0) < 1e-9, "shares that are not the whole"


def uniform(keys: int) -> KeyShares:
    """Return equal shares.

    >>> uniform(4).shares.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return _normed(np.ones(_count("keys", keys)))


def zipf(keys: int, theta: float) -> KeyShares:
    """Return shares by Zipf's law: the key of rank r has one in proportion to r to the -theta.

    >>> zipf(3, 1.0).shares.round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    if not (np.isfinite(theta) and 0 <= theta <= 10):
        raise OptionError("theta", theta, "a number from 0 to 10")
    return _normed(np.arange(1.0, _count("keys", keys) + 1.0) ** -theta)


def two_classes(keys: int, slow: int, ratio: float) -> KeyShares:
    """Return two classes of equal keys: the last `slow` update `ratio` times less than the others.

    >>> two_classes(3, slow=1, ratio=10.0).shares.round(3).tolist()
    [0.476, 0.476, 0.048]
    """
    if not 0 <= slow <= _count("keys", keys):
        raise OptionError("slow keys", slow, f"a number from 0 to {keys}, the number of keys")
    if not 1 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        raise OptionError("ratio", ratio, f"a number above 0, at most {LARGEST_RATIO:,}")
    weights = np.ones(keys)
    weights[keys - slow :] = 1.0 / ratio
    return _normed(weights)


def _normed(weights: Floats) -> KeyShares:
    return KeyShares(weights / weights.sum())


def _count(option: str, number: int) -> int:
    if not (1 <= number <= 10_000_000 and number == int(number)):
        raise OptionError(option, number, "a whole number from 1 to 10,000,000")
    return number
