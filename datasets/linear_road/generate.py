"""The tuples of a run in order of time, and the tolls of the days before.

Spark computes the tuples one direction of a road at a time. Each direction is drawn from the seed
and its own number, and rows are sorted by columns that identify them. So the same run gives the
same rows in the same order, whatever the number of partitions.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..output.trace import ROWS_PER_FILE
from .road import START_SHARE, Run
from .tuples import HISTORY_DAYS, NAMES, SCHEMA, record_batches

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


ORDER = ("time", "type", "key")


def generate(session: SparkSession, run: Run, *, partitions: int | None = None) -> DataFrame:
    """Return the tuples of a run, in order of time from partition to partition and within each."""
    count = partitions or -(-run.reports // ROWS_PER_FILE)
    units = session.range(0, run.directions, 1, min(run.directions, max(count, 1)))
    rows = units.mapInArrow(partial(record_batches, run), SCHEMA)
    in_place = rows.repartitionById(count, _partition(run, count))
    return in_place.sortWithinPartitions(*ORDER).select(*NAMES)


def _partition(run: Run, count: int) -> Column:
    """Return which partition a row belongs to, so that all have about as many.

    The rate grows evenly, so what has come by a time grows with its square.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    part = F.col("time") / run.seconds
    came = START_SHARE * part + (1 - START_SHARE) / 2 * part * part
    share = came / (START_SHARE + (1 - START_SHARE) / 2)
    return F.least(F.lit(count - 1), F.floor(share * count).cast("int"))


TOLLS: Final = 100


def toll_history(cars: DataFrame, run: Run) -> DataFrame:
    """Return the tolls of these cars, which are the column `key`, in order of car and day."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    days = F.explode(F.sequence(F.lit(1), F.lit(HISTORY_DAYS))).alias("day")
    table = cars.select(F.col("key").alias("car"), days)
    drawn = F.xxhash64(F.lit(run.seed), "car", "day")
    expressway = F.pmod(F.shiftrightunsigned(drawn, 32), F.lit(run.expressways)).cast("int")
    toll = F.pmod(drawn, F.lit(TOLLS)).cast("int")
    return table.select("car", "day", expressway.alias("expressway"), toll.alias("toll")).orderBy(
        "car", "day"
    )


def write_history(history: DataFrame, folder: Path) -> None:
    """Write the tolls into an empty folder, and nothing beside the files that hold them."""
    history.write.mode("append").parquet(str(folder))
    for path in folder.iterdir():
        if path.suffix != ".parquet":
            path.unlink()
