"""When updates arrive: memoryless, or at a fixed interval.

A memoryless stream is made of blocks of so many updates. The sum of n exponential times has a gamma
distribution, so the driver draws when each block ends, with its last update; given that, the others
are uniform in the block, in order of time. Nothing in this is approximate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .blocks import Cut
from .randomness import driver_random, uniform

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Span:
    """Which part of an endless stream is wanted."""

    updates: int
    rate: float
    """How many updates there are in a second, of all keys, on average."""
    start: float = 0.0
    """In seconds."""


class Arrivals(Protocol):
    """A way in which updates arrive."""

    def frame(self, session: SparkSession, span: Span, *, seed: int, cut: Cut) -> DataFrame:
        """Return `row`, which counts the updates from 0, and `time`, in order of both."""
        ...


class PoissonArrivals:
    """Memoryless arrivals: exponential times between them."""

    __slots__ = ()

    def frame(self, session: SparkSession, span: Span, *, seed: int, cut: Cut) -> DataFrame:
        """Return `row` and `time`, in order of both."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        blocks = cut.frame(session, memoryless_blocks(span, seed=seed, cut=cut))
        last = F.col("first") + F.col("updates") - 1
        places = F.transform(
            F.sequence("first", last),
            lambda row: F.when(row == last, 1.0).otherwise(uniform(seed, "times", row)),
        )
        exploded = blocks.select("first", "start", "end", F.posexplode(F.sort_array(places)))
        time = F.col("start") + F.col("col") * (F.col("end") - F.col("start"))
        return exploded.select(
            (F.col("first") + F.col("pos")).alias("row"),
            F.least(time, "end").alias("time"),  # which rounding could overshoot
        )


class FixedInterval:
    """One arrival after the other, at the same distance, the first at the start."""

    __slots__ = ()

    def frame(self, session: SparkSession, span: Span, *, seed: int, cut: Cut) -> DataFrame:
        """Return `row` and `time`, in order of both."""
        import pyarrow as pa
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        blocks = cut.frame(session, pa.table(_rows_of_blocks(span.updates, cut)))
        last = F.col("first") + F.col("updates") - 1
        rows = blocks.select(F.explode(F.sequence("first", last)).alias("row"))
        return rows.select("row", (F.lit(span.start) + F.col("row") / span.rate).alias("time"))


def memoryless_blocks(span: Span, *, seed: int, cut: Cut) -> pa.Table:
    """Return the blocks of a memoryless stream: their rows, and when each starts and ends."""
    import pyarrow as pa

    columns = _rows_of_blocks(span.updates, cut)
    lengths = driver_random(seed, "blocks").gamma(columns["updates"]) / span.rate
    ends = span.start + lengths.cumsum()
    starts = np.concatenate([[span.start], ends[:-1]])
    return pa.table({**columns, "start": starts, "end": ends})


def _rows_of_blocks(
    updates: int, cut: Cut
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    first = np.arange(0, updates, cut.updates_per_block, dtype=np.int64)
    return {"first": first, "updates": np.diff(first, append=updates)}
