"""Slow keys that update all at once: the case that LINECUTTING was made for (report, 5.3).

The slowest keys update all in one burst, and the others memorylessly in between. Together they have
the rates of the shares, and the bursting keys have equal rates. A burst brings one update of each
bursting key, in random order, at uniform times within `spread`. Bursts begin at memoryless times,
as often as the rates of their keys require. The simulator has the same arrivals
(`simulator.workloads.bursts`), but draws them one after another; here each row is drawn by its
number, so the two share no code.

A block is a stretch of time here. The driver draws how many steady updates each block has, and when
bursts begin. A burst may reach into later blocks. So each block makes the updates of all bursts
that can reach it, and keeps those in its time. The number of its first row follows from the drawn
numbers, less the updates of earlier bursts in this block or later, which the block has also made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadOptionError
from .arrivals import Cut, Span
from .key_shares import ZipfShares
from .randomness import driver_random, uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_BURSTING: Final = 100_000
"""A task holds one or two bursts in memory at once, to sort them by time."""
MOST_BURSTS: Final = 5_000_000
"""The driver holds when each begins."""
_BURSTS_AT_ONCE: Final = 100_000


@dataclass(frozen=True, slots=True)
class BurstArrivals:
    """The `bursting` slowest keys come together, spread over `spread` seconds."""

    shares: ZipfShares
    bursting: int
    spread: float = 0.0

    def __post_init__(self) -> None:
        most = min(self.shares.keys, MOST_BURSTING)
        if not 1 <= self.bursting <= most:
            expected = f"a number of keys, from 1 to {most:,}"
            raise BadOptionError("--bursting", self.bursting, expected)

    def interval(self, rate: float) -> float:
        """Return the mean time between two bursts, in seconds."""
        shares = self.shares.shares()
        return self.bursting / (rate * float(shares[self._steady_keys :].sum()))

    def check(self, span: Span) -> None:
        """Raise BadOptionError if bursts overlap too much, or there are too many."""
        interval = self.interval(span.rate)
        if not 0 <= self.spread <= interval:
            expected = f"seconds from 0 to {interval:g}, the mean time between two bursts"
            raise BadOptionError("--spread", f"{self.spread:g}", expected)
        bursts = span.updates / span.rate / interval
        if bursts > MOST_BURSTS:
            expected = f"fewer --updates, or enough for at most {MOST_BURSTS:,} bursts of them"
            raise BadOptionError("--bursting", self.bursting, expected)

    def draw(self, frame: DataFrame, *, seed: int) -> DataFrame:
        """Add a column `key` to a frame with `row` and `burst_key`."""
        if not self._steady_keys:
            return frame.withColumn("key", F.col("burst_key"))
        # The law of Zipf without its last keys is the law of Zipf.
        steady = ZipfShares(self._steady_keys, self.shares.theta).draw(frame, seed=seed)
        return steady.withColumn("key", F.coalesce("burst_key", "key"))

    def frame(self, session: SparkSession, span: Span, *, seed: int, cut: Cut) -> DataFrame:
        """Return `row`, `time` and `burst_key`, which is null for a steady key, in order."""
        self.check(span)
        blocks = cut.frame(session, self.blocks(span, seed=seed, cut=cut))
        made = blocks.select("*", self._updates_of_bursts(seed).alias("made"))
        reaching = F.filter("made", lambda each: each["time"] >= F.col("start"))
        made = made.select("*", reaching.alias("reaching")).drop("made")
        of_earlier = F.size(F.filter("reaching", lambda each: each["begun"] < F.col("start")))
        inside = F.filter("reaching", lambda each: each["time"] < F.col("end"))
        all_in_order = F.sort_array(F.concat(_steady_updates(seed), inside))
        block = made.select((F.col("first") - of_earlier).alias("first"), all_in_order.alias("all"))
        exploded = block.select("first", F.posexplode("all"))
        rows = exploded.select(
            (F.col("first") + F.col("pos")).alias("row"),
            F.col("col.time").alias("time"),
            F.col("col.burst_key").alias("burst_key"),
        )
        return rows.where(F.col("row") < span.updates)

    def blocks(self, span: Span, *, seed: int, cut: Cut) -> pa.Table:
        """Return the blocks: their time, their steady updates, and the bursts that reach them."""
        count = -(-span.updates // cut.updates_per_block)
        while True:
            blocks = self._blocks(count, span, seed=seed, cut=cut)
            if blocks is not None:
                return blocks
            count += 1 + count // 4

    def _blocks(self, count: int, span: Span, *, seed: int, cut: Cut) -> pa.Table | None:
        """Return what is needed of so many blocks, None if they have too few updates for sure."""
        length = cut.updates_per_block / span.rate
        edges = span.start + length * np.arange(count + 1)
        interval = self.interval(span.rate)
        steady_rate = span.rate - self.bursting / interval if self._steady_keys else 0.0
        steady = driver_random(seed, "steady").poisson(max(steady_rate, 0.0) * length, count)
        steady_until = np.concatenate([[0], steady.cumsum()])
        begun = _memoryless(interval, span.start, edges[-1], driver_random(seed, "bursts"))
        over = np.searchsorted(begun + self.spread, edges)
        is_enough = steady_until + self.bursting * over >= span.updates
        if not is_enough.any():
            return None
        last = int(is_enough.argmax())
        starts, ends = edges[:last], edges[1 : last + 1]
        columns = {
            "start": starts,
            "end": ends,
            "first": steady_until[:last] + self.bursting * np.searchsorted(begun, starts),
            "steady_first": steady_until[:last],
            "steady": steady[:last].astype(np.int32),
        }
        reaching = (np.searchsorted(begun, starts - self.spread), np.searchsorted(begun, ends))
        return pa.table({**columns, "bursts": _lists(begun, *reaching)})

    @property
    def _steady_keys(self) -> int:
        return self.shares.keys - self.bursting

    def _updates_of_bursts(self, seed: int) -> Column:
        """Return the updates of all bursts that may reach a block."""
        keys = F.sequence(F.lit(self._steady_keys), F.lit(self.shares.keys - 1))
        spread = F.lit(float(self.spread))

        def updates(burst: Column) -> Column:
            return F.transform(
                keys,
                lambda key: _update(
                    burst["begun"] + spread * uniform(seed, "spread", burst["number"], key),
                    order=uniform(seed, "order", burst["number"], key),
                    key=key,
                    begun=burst["begun"],
                ),
            )

        return F.flatten(F.transform("bursts", updates))


def _steady_updates(seed: int) -> Column:
    """Return the updates of a block that are of steady keys, in no order."""
    length = F.col("end") - F.col("start")
    # Spark's sequences have at least one element.
    numbers = F.slice(F.sequence(F.lit(0), F.col("steady")), F.lit(1), F.col("steady"))
    return F.transform(
        numbers,
        lambda number: _update(
            F.col("start") + length * uniform(seed, "times", F.col("steady_first") + number),
            order=F.lit(0.0),
            key=F.lit(None),
            begun=F.col("start"),
        ),
    )


def _update(time: Column, *, order: Column, key: Column, begun: Column) -> Column:
    """Return an update; those of one time are sorted by `order`."""
    return F.struct(
        time.alias("time"),
        order.alias("order"),
        key.cast("bigint").alias("burst_key"),
        begun.alias("begun"),
    )


def _memoryless(interval: float, start: float, end: float, random: np.random.Generator) -> Floats:
    """Draw memoryless times between a start and an end."""
    gaps = np.empty(0)
    while True:
        gaps = np.concatenate([gaps, random.exponential(interval, _BURSTS_AT_ONCE)])
        times = start + gaps.cumsum()
        if times[-1] >= end:
            return times[times < end]


def _lists(begun: Floats, since: Integers, until: Integers) -> pa.ListArray:
    """Return for each block the bursts from one number up to another."""
    lengths = until - since
    offsets = np.concatenate([[0], lengths.cumsum()])
    numbers = np.arange(offsets[-1]) + np.repeat(since - offsets[:-1], lengths)
    bursts = pa.StructArray.from_arrays(
        [pa.array(numbers), pa.array(begun[numbers])], names=["number", "begun"]
    )
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), bursts)
