"""Random numbers that depend on the seed, what they are for, and the row, and on nothing else.

Spark's `rand()` depends on how the rows are cut into partitions. A hash of the row's number does
not, and costs no more.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

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


@dataclass(frozen=True, slots=True, eq=False)
class AliasTable:
    """Walker's alias method: draw from any shares by one lookup in a table.

    There is a row for each outcome, all drawn alike. A row keeps the draw for its own outcome up to
    its threshold, and leaves the rest to one other outcome, its alias. So an outcome with more than
    an even share is the alias of others, which have less.
    """

    thresholds: Floats
    aliases: Integers

    @classmethod
    def of(cls, weights: Floats) -> AliasTable:
        """Return the table for shares in proportion to `weights`. O(n log n).

        What the small ones lack, in the order in which they lack it, and what the large ones have
        too much, in theirs, are two divisions of one line. A small one's alias is the large one
        at the place where its lack begins. A large one that gives more than it can has lacked
        that itself, from the next.

        >>> table = AliasTable.of(np.array([0.5, 0.25, 0.25]))
        >>> table.thresholds.tolist(), table.aliases.tolist()
        ([1.0, 0.75, 0.75], [0, 0, 0])
        """
        count = len(weights)
        scaled = weights * (count / weights.sum())
        thresholds, aliases = np.ones(count), np.arange(count)
        small, large = np.flatnonzero(scaled < 1.0), np.flatnonzero(scaled > 1.0)
        if len(small) == 0 or len(large) == 0:  # even, but for rounding
            return cls(thresholds, aliases)
        lacked = (1.0 - scaled[small]).cumsum()
        left_over = (scaled[large] - 1.0).cumsum()
        begins = np.concatenate([[0.0], lacked[:-1]])
        givers = np.searchsorted(left_over, begins, side="right")
        thresholds[small] = scaled[small]
        aliases[small] = large[np.minimum(givers, len(large) - 1)]
        ends = lacked[np.minimum(np.searchsorted(lacked, left_over), len(lacked) - 1)]
        thresholds[large[:-1]] = np.clip(1.0 - (ends - left_over)[:-1], 0.0, 1.0)
        aliases[large[:-1]] = large[1:]
        return cls(thresholds, aliases)

    def draw(self, frame: DataFrame, uniform: Column, outcome: str) -> DataFrame:
        """Add a column of outcomes to a frame, drawn by a uniform number for each row."""
        count = len(self.thresholds)
        columns = {
            "alias_row": np.arange(count),
            "alias_threshold": self.thresholds,
            "alias_other": self.aliases,
        }
        table = F.broadcast(frame.sparkSession.createDataFrame(pa.table(columns)))
        place = (uniform * F.lit(float(count))).alias("alias_place")
        placed = frame.select("*", place, below(count, uniform).alias("alias_row"))
        is_own = F.col("alias_place") - F.col("alias_row") < F.col("alias_threshold")
        drawn = F.when(is_own, F.col("alias_row")).otherwise(F.col("alias_other"))
        # An outer join, since Spark looks for keys that are null before an inner one.
        joined = placed.join(table, "alias_row", "left")
        return joined.select(*(frame[name] for name in frame.columns), drawn.alias(outcome))
