"""How updates come over time: rates, bursts, gaps, and how many come out of order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..spark.together import collect_together
from .source import StreamRows

BUCKETS: Final = 120
"""In how many parts of equal length the rate over time is told."""
_SORTED_BUCKETS: Final = 1_000
"""In how many parts times are sorted, so that no sort is of all of them."""
LONG_SECONDS: Final = 100.0
_RUN_BITS: Final = 16
"""Neighbouring rows are compared in runs of two to this power."""


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


def profile_arrivals(rows: StreamRows, *, interval: float | None = None) -> ArrivalProfile | None:
    """Profile the arrivals in one Spark job; return None for an empty stream."""
    if not rows.updates:
        return None
    first, seconds, updates = rows.first_time, rows.last_time - rows.first_time, rows.updates
    width = interval or default_interval(seconds) or 1.0
    bucket_width = seconds / BUCKETS
    frames = {"falls": _falls(rows.frame)}
    if bucket_width > 0:
        cells = _cells(rows.frame, first, width, bucket_width)
        frames["buckets"] = _updates_per(cells, "bucket")
        if seconds >= 2 * width:
            frames["intervals"] = _interval_sums(cells, math.floor(seconds / width))
    if updates >= 2 and seconds > 0:
        frames["gaps"] = _gap_squares(rows.frame, first, seconds)
    found = collect_together(frames)
    dispersion = peak = gap_variation = None
    for row in found.get("intervals", ()):
        mean_count = row["total"] / math.floor(seconds / width)
        dispersion = row["squares"] / math.floor(seconds / width) - mean_count * mean_count
        dispersion, peak = dispersion / mean_count, row["most"] / width
    for row in found.get("gaps", ()):
        mean_gap = seconds / (updates - 1)
        variance = row["squares"] / (updates - 1) - mean_gap * mean_gap
        gap_variation = float(math.sqrt(max(0.0, variance)) / mean_gap)
    mean = updates / seconds if seconds > 0 else None
    counts = {row["bucket"]: row["updates"] for row in found.get("buckets", ())}
    return ArrivalProfile(
        updates=updates,
        first_time=first,
        last_time=rows.last_time,
        interval=width,
        dispersion=dispersion,
        peak_rate=peak,
        peak_over_mean=peak / mean if peak is not None and mean else None,
        gap_variation=gap_variation,
        out_of_order=int(found["falls"][0]["falls"] or 0),
        buckets=tuple(
            (first + part * bucket_width, counts.get(part, 0))
            for part in range(BUCKETS if bucket_width > 0 else 0)
        ),
    )


def _part(first: float, width: float) -> Column:
    return F.floor((F.col("time") - F.lit(first)) / F.lit(width))


def _cells(rows: DataFrame, first: float, width: float, bucket_width: float) -> DataFrame:
    """Return the updates per interval and bucket, from which both are counted with one scan."""
    bucket = F.least(_part(first, bucket_width), F.lit(BUCKETS - 1))
    parts = _part(first, width).alias("interval"), bucket.alias("bucket")
    return rows.groupBy(*parts).agg(F.count("*").alias("updates"))


def _updates_per(cells: DataFrame, part: str) -> DataFrame:
    return cells.groupBy(part).agg(F.sum("updates").alias("updates"))


def _interval_sums(cells: DataFrame, intervals: int) -> DataFrame:
    """Return the total, the sum of squares and the maximum of the updates per interval.

    The last interval is shorter than the others and does not count.
    """
    counts = _updates_per(cells.where(F.col("interval") < intervals), "interval")
    updates = F.col("updates")
    square = updates.cast("double") * updates
    return counts.agg(
        F.sum(updates).alias("total"), F.sum(square).alias("squares"), F.max(updates).alias("most")
    )


def _gap_squares(rows: DataFrame, first: float, seconds: float) -> DataFrame:
    """Return the sum of the squared times between updates, of whichever keys."""
    parts = rows.select("time", _part(first, seconds / _SORTED_BUCKETS).alias("part"))
    before = F.lag("time").over(Window.partitionBy("part").orderBy("time"))
    gaps = parts.select("part", "time", (F.col("time") - before).alias("gap"))
    by_part = gaps.groupBy("part").agg(
        F.sum(F.col("gap") * F.col("gap")).alias("squares"),
        F.min("time").alias("first"),
        F.max("time").alias("last"),
    )
    # Between parts: there are at most a thousand, so one partition is enough.
    between = F.col("first") - F.lag("last").over(Window.orderBy("part"))
    squares = F.coalesce("squares", F.lit(0.0)) + F.coalesce(between * between, F.lit(0.0))
    return by_part.select(squares.alias("squares")).agg(F.sum("squares").alias("squares"))


def _falls(rows: DataFrame) -> DataFrame:
    """Count the updates whose time is before that of the row above them, in their file.

    Rows keep their order within a block of a file. They are compared in short runs, so that no
    sort is of a whole file; then the ends of the runs are compared.
    """
    placed = rows.select("time", "file", "block", F.monotonically_increasing_id().alias("row"))
    run = F.shiftright("row", _RUN_BITS).alias("run")
    above = Window.partitionBy("file", "block", "run").orderBy("row")
    is_fall = F.col("time") < F.lag("time").over(above)
    runs = placed.select("*", run).select("*", is_fall.alias("is_fall"))
    ends = runs.groupBy("file", "block", "run").agg(
        F.count_if("is_fall").alias("falls"),
        F.min_by("time", "row").alias("first"),
        F.max_by("time", "row").alias("last"),
    )
    before = F.lag("last").over(Window.partitionBy("file").orderBy("block", "run"))
    falls = F.col("falls") + F.coalesce((F.col("first") < before).cast("long"), F.lit(0))
    return ends.select(falls.alias("falls")).agg(F.sum("falls").alias("falls"))
