"""The share of the updates that each key of a workload has. A key is its number.

The shares add up to 1. The busiest key comes first, so that a plot over keys needs no sorting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from upstream.workloads.key_shares import even_shares, two_class_shares, zipf_shares

from ..errors import parameters_as_options

Floats = NDArray[np.float64]


@parameters_as_options()
def uniform(keys: int) -> Floats:
    """Return equal shares; OptionError unless this many keys can be made."""
    return even_shares(keys)


@parameters_as_options()
def zipf(keys: int, theta: float) -> Floats:
    """Return shares by Zipf's law; OptionError for parameters that make no sense.

    >>> zipf(3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    return zipf_shares(keys, theta)


@parameters_as_options()
def two_classes(keys: int, slow: int, ratio: float) -> Floats:
    """Return two classes of equal keys: the last `slow` update `ratio` times less than the others.

    OptionError for parameters that make no sense.
    """
    return two_class_shares(keys, slow, ratio)
