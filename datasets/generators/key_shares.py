"""The keys of a stream, and how the updates are shared out among them.

A key is its number; the busiest is 0. The words mean what they do in the simulator: `theta`, two
classes, and how many times less the slow ones update.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BadOptionError
from .alias_table import AliasTable
from .randomness import below, uniform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Floats = NDArray[np.float64]

MOST_KEYS: Final = 10_000_000
LARGEST_THETA: Final = 10.0
LARGEST_RATIO: Final = 1_000_000_000
"""Of the rates of two keys; its reciprocal is the smallest."""

_PURPOSE: Final = "keys"


class KeyShares(Protocol):
    """Keys with fixed shares of the updates."""

    @property
    def keys(self) -> int:
        """How many keys there are."""
        ...

    def shares(self) -> Floats:
        """Return the share of the updates that each key has."""
        ...

    def draw(self, frame: DataFrame, *, seed: int) -> DataFrame:
        """Add a column `key` to a frame with a column `row`."""
        ...


@dataclass(frozen=True, slots=True)
class EvenShares:
    """All keys have the same share."""

    keys: int

    def __post_init__(self) -> None:
        check_keys(self.keys)

    def shares(self) -> Floats:
        """Return the share of the updates that each key has."""
        return np.full(self.keys, 1.0 / self.keys)

    def draw(self, frame: DataFrame, *, seed: int) -> DataFrame:
        """Add a column `key` to a frame with a column `row`."""
        drawn = uniform(seed, _PURPOSE, frame["row"])
        return frame.withColumn("key", below(self.keys, drawn))


@dataclass(frozen=True, slots=True)
class ZipfShares:
    """The key of rank r has a share in proportion to r to the -theta.

    >>> ZipfShares(3, 1.0).shares().round(3).tolist()
    [0.545, 0.273, 0.182]
    """

    keys: int
    theta: float

    def __post_init__(self) -> None:
        check_keys(self.keys)
        if not 0 <= self.theta <= LARGEST_THETA:
            expected = f"a number from 0, which is even, to {LARGEST_THETA:g}"
            raise BadOptionError("--theta", f"{self.theta:g}", expected)

    def shares(self) -> Floats:
        """Return the share of the updates that each key has."""
        weights = np.arange(1.0, self.keys + 1.0) ** -self.theta
        return _normed(weights)

    def draw(self, frame: DataFrame, *, seed: int) -> DataFrame:
        """Add a column `key` to a frame with a column `row`."""
        if self.theta == 0:
            return EvenShares(self.keys).draw(frame, seed=seed)
        drawn = uniform(seed, _PURPOSE, frame["row"])
        return AliasTable.of(self.shares()).draw(frame, drawn, "key")


@dataclass(frozen=True, slots=True)
class TwoClassShares:
    """Two classes of equal keys: the last `slow_keys` update `ratio` times less than the others.

    >>> TwoClassShares(3, slow_keys=1, ratio=10.0).shares().round(3).tolist()
    [0.476, 0.476, 0.048]
    """

    keys: int
    slow_keys: int
    ratio: float

    def __post_init__(self) -> None:
        check_keys(self.keys)
        if not 0 <= self.slow_keys <= self.keys:
            expected = f"a number from 0 to {self.keys:,}, the number of keys"
            raise BadOptionError("--slow-keys", self.slow_keys, expected)
        if not 1 / LARGEST_RATIO <= self.ratio <= LARGEST_RATIO:
            expected = f"a number above 0, at most {LARGEST_RATIO:,}"
            raise BadOptionError("--ratio", f"{self.ratio:g}", expected)

    def shares(self) -> Floats:
        """Return the share of the updates that each key has."""
        weights = np.ones(self.keys)
        weights[self.keys - self.slow_keys :] = 1.0 / self.ratio
        return _normed(weights)

    def draw(self, frame: DataFrame, *, seed: int) -> DataFrame:
        """Add a column `key` to a frame with a column `row`."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        fast_keys = self.keys - self.slow_keys
        of_fast = fast_keys / (fast_keys + self.slow_keys / self.ratio)
        is_fast = uniform(seed, f"{_PURPOSE}, which class", frame["row"]) < F.lit(of_fast)
        within = uniform(seed, f"{_PURPOSE}, which of it", frame["row"])
        slow = below(self.slow_keys, within) + F.lit(fast_keys)
        return frame.withColumn("key", F.when(is_fast, below(fast_keys, within)).otherwise(slow))


def _normed(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares


def check_keys(keys: int) -> None:
    """Raise BadOptionError for a number of keys that makes no sense."""
    if not 1 <= keys <= MOST_KEYS:
        raise BadOptionError("--keys", keys, f"a whole number from 1 to {MOST_KEYS:,}")
