"""How updates come over time: rates, bursts, gaps, and how many come out of order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

BUCKETS: Final = 120
"""In how many parts of equal length the rate over time is told."""
_SORTED_BUCKETS: Final = 1_000
"""In how many parts times are sorted, so that no sort is of all of them."""
LONG_SECONDS: Final = 100.0


@dataclass(frozen=True, slots=True)
class ArrivalProfile:
    """How updates come over time."""

    updates: int
    first_time: float
    last_time: float
    interval: float
    """The seconds over which counts are compared; None of the measures is, if no time passes."""
    dispersion: float | None
    """Variance over mean of the updates per interval: 1 if memoryless, 0 if even."""
    peak_rate: float | None
    """Updates a second, in the busiest interval."""
    peak_over_mean: float | None
    gap_variation: float | None
    """Deviation over mean of the times between updates: 1 if memoryless, 0 if even."""
    out_of_order: int
    """Updates whose time is before that of the row above, in their file."""
    buckets: tuple[tuple[float, int], ...]
    """Start and updates, in parts of equal length."""

    @property
    def seconds(self) -> float:
        """How long the stream is."""
        return self.last_time - self.first_time

    @property
    def mean_rate(self) -> float | None:
        """Return updates a second, None if no time passes."""
        return self.updates / self.seconds if self.seconds > 0 else None


def default_interval(seconds: float) -> float:
    """Return the seconds over which to compare counts: one, or less if the stream is short."""
    return 1.0 if seconds >= LONG_SECONDS else seconds / LONG_SECONDS


def profile_arrivals(rows: DataFrame, *, interval: float | None = None) -> ArrivalProfile | None:
    """Return how updates come; None if there are none."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    total = rows.agg(F.count("*"), F.min("time"), F.max("time")).first()
    assert total is not None
    updates, first, last = total
    if not updates:
        return None
    seconds = last - first
    width = interval or default_interval(seconds) or 1.0
    dispersion = peak = None
    if seconds >= 2 * width:
        dispersion, peak = _dispersion(rows, first, width, math.floor(seconds / width))
    mean = updates / seconds if seconds > 0 else None
    return ArrivalProfile(
        updates=updates,
        first_time=first,
        last_time=last,
        interval=width,
        dispersion=dispersion,
        peak_rate=peak,
        peak_over_mean=peak / mean if peak is not None and mean else None,
        gap_variation=_gap_variation(rows, first, seconds, updates),
        out_of_order=_out_of_order(rows),
        buckets=_buckets(rows, first, seconds),
    )


def _part(first: float, width: float) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.floor((F.col("time") - F.lit(first)) / F.lit(width))


def _dispersion(rows: DataFrame, first: float, width: float, intervals: int) -> tuple[float, float]:
    """Return variance over mean of the counts, empty intervals included, and the peak rate.

    The last interval is not a whole one, and left out.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    counts = rows.groupBy(_part(first, width).alias("part")).agg(F.count("*").alias("count"))
    whole = counts.where(F.col("part") < intervals)
    square = F.col("count").cast("double") * F.col("count")
    row = whole.agg(F.sum("count"), F.sum(square), F.max("count")).first()
    assert row is not None
    total, squares, most = row
    mean = total / intervals
    return (squares / intervals - mean * mean) / mean, most / width


def _buckets(rows: DataFrame, first: float, seconds: float) -> tuple[tuple[float, int], ...]:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    width = seconds / BUCKETS
    if width == 0:
        return ()
    part = F.least(_part(first, width), F.lit(BUCKETS - 1)).alias("part")
    found = {row["part"]: row["count"] for row in rows.groupBy(part).count().collect()}
    return tuple((first + part * width, found.get(part, 0)) for part in range(BUCKETS))


def _gap_variation(rows: DataFrame, first: float, seconds: float, updates: int) -> float | None:
    """Return deviation over mean of the times between updates, of whichever keys."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if updates < 2 or seconds == 0:
        return None
    parts = rows.select("time", _part(first, seconds / _SORTED_BUCKETS).alias("part"))
    before = F.lag("time").over(Window.partitionBy("part").orderBy("time"))
    gaps = parts.select("part", "time", (F.col("time") - before).alias("gap"))
    by_part = gaps.groupBy("part").agg(
        F.sum(F.col("gap") * F.col("gap")).alias("squares"),
        F.min("time").alias("first"),
        F.max("time").alias("last"),
    )
    # Between parts, of which there are a thousand at most, so one partition will do.
    between = F.col("first") - F.lag("last").over(Window.orderBy("part"))
    squares = F.coalesce("squares", F.lit(0.0)) + F.coalesce(between * between, F.lit(0.0))
    row = by_part.select(squares.alias("squares")).agg(F.sum("squares")).first()
    assert row is not None
    mean = seconds / (updates - 1)
    return float(math.sqrt(max(0.0, row[0] / (updates - 1) - mean * mean)) / mean)


def _out_of_order(rows: DataFrame) -> int:
    """Count updates whose time is before that of the row above them, in their file.

    Rows keep their order within a block of a file, so that only its ends are looked at again.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    schema = "file long, block long, falls long, first double, last double"
    runs = rows.select("time", "file", "block").mapInArrow(count_falls, schema)
    # A block comes in several batches, one after the other in the same partition.
    placed = runs.withColumn("batch", F.monotonically_increasing_id())
    above = F.lag("last").over(Window.partitionBy("file").orderBy("block", "batch"))
    falls = F.col("falls") + F.coalesce((F.col("first") < above).cast("long"), F.lit(0))
    row = placed.select(falls.alias("falls")).agg(F.sum("falls")).first()
    return int(row[0]) if row is not None and row[0] else 0


def count_falls(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield for each run of rows of one block how many times fall, and the first and last one."""
    import pyarrow as pa

    for batch in batches:
        time, file, block = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
        if len(time) == 0:
            continue
        is_new = (np.diff(file) != 0) | (np.diff(block) != 0)
        starts = np.concatenate(([0], np.flatnonzero(is_new) + 1))
        ends = np.concatenate((starts[1:], [len(time)]))
        falls = np.concatenate(([0], (np.diff(time) < 0) & ~is_new)).astype(np.int64)
        yield pa.RecordBatch.from_pydict(
            {
                "file": file[starts],
                "block": block[starts],
                "falls": np.add.reduceat(falls, starts),
                "first": time[starts],
                "last": time[ends - 1],
            }
        )
