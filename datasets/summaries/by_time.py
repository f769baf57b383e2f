"""How stale the keys were in the course of a run: a row for each run and stretch of time.

Stretches are cut at the ends of the buckets of time, and their areas summed in each; that over the
time for which keys were known in the bucket is the mean over keys and over the bucket's time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from .description import STALENESS
from .look import Extent
from .runs import value_of_run


@dataclass(frozen=True, slots=True)
class Bucket:
    """Staleness in one stretch of a run's time, averaged over it and over the keys known then."""

    run: int
    begin: float
    """In seconds, or whatever the run counts, since its start."""
    end: float
    staleness: dict[str, float | None]
    """By kind; None where no key was known yet, or it cannot be recomputed."""


def time_frames(
    events: DataFrame, table: DataFrame, extents: Sequence[Extent], buckets: int
) -> dict[str, DataFrame]:
    """Return the small frames that `by_time` works with, of a row for each run and bucket."""
    return {
        "areas": _areas(events, buckets),
        "new_keys": _new_keys(table, extents, buckets),
    }


def by_time(
    rows: Mapping[str, Sequence[Row]], extents: Sequence[Extent], buckets: int
) -> list[Bucket]:
    """Return `buckets` rows for each run, in order of time, from the rows of these frames."""
    areas = {(row["run"], row["bucket"]): row for row in rows["areas"]}
    new = {(row["run"], row["bucket"]): row for row in rows["new_keys"]}
    found = []
    for extent in extents:
        number, length = extent.run.number, extent.end - extent.start
        known = 0
        for bucket in range(buckets if length > 0 else 0):
            begin, end = (length * edge / buckets for edge in (bucket, bucket + 1))
            key_time = known * (end - begin)
            came = new.get((number, bucket))
            if came is not None:
                known += came["keys"]
                key_time += max(came["keys"] * end - came["first_arrivals"], 0.0)
            row = areas.get((number, bucket))
            staleness = {of: _mean(extent, of, row, key_time) for of in STALENESS}
            found.append(Bucket(number, begin, end, staleness))
    return found


def _mean(extent: Extent, of: str, row: Row | None, key_time: float) -> float | None:
    if extent.why_not(of) or key_time <= 0:
        return None
    return 0.0 if row is None else float(row[of]) / key_time


def _areas(events: DataFrame, buckets: int) -> DataFrame:
    """Return the area of each kind of staleness for each run and bucket."""
    kinds = F.array(*(_stretch(of) for of in STALENESS))
    stretches = events.select("run", "end_of_run", "since", F.explode(kinds).alias("each"))
    stretches = stretches.select("run", "end_of_run", "since", "each.*").where("begin is not null")
    last = F.least(_bucket_of("end", buckets), F.lit(buckets - 1))
    first = F.least(_bucket_of("begin", buckets), last)
    cut = stretches.withColumn("bucket", F.explode(F.sequence(first, last)))
    width = F.col("end_of_run") / buckets
    begin = F.greatest("begin", F.col("bucket") * width)
    end = F.least("end", (F.col("bucket") + 1) * width)
    rising = (begin - F.col("since")) + (end - F.col("since"))
    cut = cut.withColumn("area", F.greatest(end - begin, F.lit(0.0)) * rising / 2)
    return cut.groupBy("run", "bucket").agg(
        *(
            F.sum(F.when(F.col("of") == of, F.col("area")).otherwise(0.0)).alias(of)
            for of in STALENESS
        )
    )


def _stretch(of: str) -> Column:
    return F.struct(
        F.lit(of).alias("of"), F.col(f"{of}_begin").alias("begin"), F.col(f"{of}_end").alias("end")
    )


def _new_keys(table: DataFrame, extents: Sequence[Extent], buckets: int) -> DataFrame:
    """Return how many keys arrived first in each bucket, and the sum of when they did."""
    end = value_of_run([extent.end - extent.start for extent in extents], "double")
    known = table.where("first_arrival is not null")  # not keys whose updates were all rejected
    timed = known.withColumn("end_of_run", end).where("end_of_run > 0")
    bucket = F.least(_bucket_of("first_arrival", buckets), F.lit(buckets - 1))
    return timed.groupBy("run", bucket.alias("bucket")).agg(
        F.count("*").alias("keys"), F.sum("first_arrival").alias("first_arrivals")
    )


def _bucket_of(name: str, buckets: int) -> Column:
    return F.floor(F.col(name) / F.col("end_of_run") * buckets).cast("int")
