"""When updates arrive: memoryless, or at a fixed interval.

A memoryless stream consists of blocks with a fixed number of updates. The sum of n exponential
times has a gamma distribution, so the driver draws when each block ends. Given that, the other
updates are uniform in the block, in order of time. This is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from .randomness import driver_random, uniform


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
        blocks = cut.frame(session, pa.table(_rows_of_blocks(span.updates, cut)))
        last = F.col("first") + F.col("updates") - 1
        rows = blocks.select(F.explode(F.sequence("first", last)).alias("row"))
        return rows.select("row", (F.lit(span.start) + F.col("row") / span.rate).alias("time"))


def memoryless_blocks(span: Span, *, seed: int, cut: Cut) -> pa.Table:
    """Return the blocks of a memoryless stream: their rows, and when each starts and ends."""
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


@dataclass(frozen=True, slots=True)
class Cut:
    """How many updates a block has, and how many blocks a file.

    >>> Cut().updates_per_file == 1 << 20
    True
    """

    updates_per_block: int = 65_536
    """A task has these in memory at once, to sort them by time."""
    blocks_per_file: int = 16
    partitions: int | None = None
    """How many tasks there are, one for each file unless given; never more than that."""

    @property
    def updates_per_file(self) -> int:
        """How many updates a file has, but for the last one."""
        return self.updates_per_block * self.blocks_per_file

    def frame(self, session: SparkSession, blocks: pa.Table) -> DataFrame:
        """Return the blocks in their order, cut into partitions; the column `block` counts them."""
        count = blocks.num_rows
        files = -(-count // self.blocks_per_file)
        partitions = min(self.partitions or files, files)
        first = F.col("id") * F.lit(self.blocks_per_file)
        last = F.least(first + F.lit(self.blocks_per_file - 1), F.lit(count - 1))
        numbers = session.range(0, files, 1, partitions).select(
            F.explode(F.sequence(first, last)).alias("block")
        )
        numbered = blocks.append_column("block", pa.array(range(count), pa.int64()))
        # An outer join, since Spark looks for keys that are null before an inner one.
        return numbers.join(F.broadcast(session.createDataFrame(numbered)), "block", "left")
