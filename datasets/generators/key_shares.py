"""The keys of a stream, and how they are drawn by their shares of the updates.

A key is its number; the busiest is 0. `upstream.workloads` has the formulas of the shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from upstream import ParameterError
from upstream.workloads.key_shares import (
    check_two_classes,
    check_zipf,
    two_class_shares,
    zipf_shares,
)

from ..errors import BadOptionError
from .randomness import AliasTable, below, uniform

Floats = NDArray[np.float64]

_PURPOSE: Final = "keys"


@contextmanager
def parameters_as_options() -> Iterator[None]:
    """Turn a ParameterError of the body into a BadOptionError."""
    try:
        yield
    except ParameterError as error:
        value = f"{error.value:g}" if isinstance(error.value, float) else error.value
        name = f"--{error.name.replace('_', '-')}"
        raise BadOptionError(name, value, error.expected) from error


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
class ZipfShares:
    """The key of rank r has a share in proportion to r to the -theta; with theta 0 all are equal.

    >>> ZipfShares(3, 1.0).shares().round(3).tolist()
    [0.545, 0.273, 0.182]
    """

    keys: int
    theta: float

    def __post_init__(self) -> None:
        with parameters_as_options():
            check_zipf(self.keys, self.theta)

    def shares(self) -> Floats:
        """Return the share of the updates that each key has."""
        return zipf_shares(self.keys, self.theta)

    def draw(self, frame: DataFrame, *, seed: int) -> DataFrame:
        """Add a column `key` to a frame with a column `row`."""
        drawn = uniform(seed, _PURPOSE, frame["row"])
        if self.theta == 0:
            return frame.withColumn("key", below(self.keys, drawn))
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
        with parameters_as_options():
            check_two_classes(self.keys, self.slow_keys, self.ratio)

    def shares(self) -> Floats:
        """Return the share of the updates that each key has."""
        return two_class_shares(self.keys, self.slow_keys, self.ratio)

    def draw(self, frame: DataFrame, *, seed: int) -> DataFrame:
        """Add a column `key` to a frame with a column `row`."""
        fast_keys = self.keys - self.slow_keys
        of_fast = fast_keys / (fast_keys + self.slow_keys / self.ratio)
        is_fast = uniform(seed, f"{_PURPOSE}, which class", frame["row"]) < F.lit(of_fast)
        within = uniform(seed, f"{_PURPOSE}, which of it", frame["row"])
        slow = below(self.slow_keys, within) + F.lit(fast_keys)
        return frame.withColumn("key", F.when(is_fast, below(fast_keys, within)).otherwise(slow))
