"""Random numbers that depend on the seed, what they are for, and the row, and on nothing else.

Spark's `rand()` depends on how the rows are cut into partitions. A hash of the row's number does
not, and costs no more.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

_BITS: Final = 53
"""As many as the mantissa of a double has."""


def uniform(seed: int, purpose: str, *rows: Column) -> Column:
    """Return numbers from 0 up to but not including 1, another for each row and each purpose."""
    hashed = F.xxhash64(F.lit(number_of(seed, purpose)), *rows)
    return F.shiftrightunsigned(hashed, 64 - _BITS) * F.lit(2.0**-_BITS)


def below(count: int, drawn: Column) -> Column:
    """Turn uniform numbers into whole ones from 0 to `count` - 1."""
    return F.floor(drawn * F.lit(float(count)))  # for such counts, never `count` by rounding


def driver_random(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator from which the driver draws for one purpose."""
    return np.random.default_rng(number_of(seed, purpose))


def number_of(seed: int, purpose: str) -> int:
    """Return the number that stands for a seed and a purpose, from 0 to 2 to the 63 - 1.

    >>> number_of(1, "keys") == number_of(1, "times"), number_of(1, "keys") == number_of(1, "keys")
    (False, True)
    """
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
