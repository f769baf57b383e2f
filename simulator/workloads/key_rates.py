"""The keys of a workload, and their shares of the updates.

The shares add up to 1. The busiest key comes first, so that a plot over keys needs no sorting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from upstream.workloads.key_shares import even_shares, two_class_shares, zipf_shares

from ..errors import parameters_as_options

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KeyShares:
    """The share of the updates that each key has; a key is its number, and the busiest is 0."""

    shares: Floats

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return len(self.shares)

    def __post_init__(self) -> None:
        assert len(self.shares) > 0, "no keys"
        assert abs(self.shares.sum() - 1.0) < 1e-9, "shares that do not add up to 1"


@parameters_as_options()
def uniform(keys: int) -> KeyShares:
    """Return equal shares; OptionError unless this many keys can be made."""
    return KeyShares(even_shares(keys))


@parameters_as_options()
def zipf(keys: int, theta: float) -> KeyShares:
    """Return shares by Zipf's law; OptionError for parameters that make no sense.

    >>> zipf(3, 1.0).shares.round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    return KeyShares(zipf_shares(keys, theta))


@parameters_as_options()
def two_classes(keys: int, slow: int, ratio: float) -> KeyShares:
    """Return two classes of equal keys: the last `slow` update `ratio` times less than the others.

    OptionError for parameters that make no sense.
    """
    return KeyShares(two_class_shares(keys, slow, ratio))
