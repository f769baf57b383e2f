"""The share of the updates that each key has: even, by Zipf's law, or in two classes.

The shares of a workload add up to 1. The busiest key comes first.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError

Floats = NDArray[np.float64]

MOST_KEYS: Final = 10_000_000
LARGEST_THETA: Final = 10
LARGEST_RATIO: Final = 1_000_000_000
"""The largest ratio of two keys' rates; its reciprocal is the smallest."""


def even_shares(keys: int) -> Floats:
    """Return equal shares.

    >>> even_shares(4).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    check_keys(keys)
    return _normed(np.ones(keys))


def zipf_shares(keys: int, theta: float) -> Floats:
    """Return shares by Zipf's law: the key of rank r has one in proportion to r to the -theta.

    >>> zipf_shares(3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    check_zipf(keys, theta)
    return _normed(np.arange(1.0, keys + 1.0) ** -theta)


def two_class_shares(keys: int, slow_keys: int, ratio: float) -> Floats:
    """Return two classes of equal shares: the last `slow_keys` are `ratio` times smaller.

    >>> two_class_shares(3, 1, 10.0).round(3).tolist()
    [0.476, 0.476, 0.048]
    """
    check_two_classes(keys, slow_keys, ratio)
    weights = np.ones(keys)
    weights[keys - slow_keys :] = 1.0 / ratio
    return _normed(weights)


def check_keys(keys: int) -> None:
    """Raise ParameterError unless this many keys can be made."""
    if not (1 <= keys <= MOST_KEYS and keys == int(keys)):
        raise ParameterError("keys", keys, f"a whole number from 1 to {MOST_KEYS:,}")


def check_zipf(keys: int, theta: float) -> None:
    """Raise ParameterError unless Zipf's law can be used with these parameters."""
    check_keys(keys)
    if not 0 <= theta <= LARGEST_THETA:
        raise ParameterError("theta", theta, f"a number from 0, which is even, to {LARGEST_THETA}")


def check_two_classes(keys: int, slow_keys: int, ratio: float) -> None:
    """Raise ParameterError unless two classes can be made with these parameters."""
    check_keys(keys)
    if not 0 <= slow_keys <= keys:
        expected = f"a number from 0 to {keys:,}, the number of keys"
        raise ParameterError("slow_keys", slow_keys, expected)
    if not 1 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        raise ParameterError("ratio", ratio, f"a number above 0, at most {LARGEST_RATIO:,}")


def _normed(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares
