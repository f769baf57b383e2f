"""The tuples of a run in order of time, computed by Spark, one direction of a road at a time.

Each direction is drawn from the seed and its own number, and rows are sorted by what no two of them
share. So the same run is the same rows in the same order, in however many partitions.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..output.trace import ROWS_PER_FILE
from .road import START_SHARE, Run
from .tuples import NAMES, SCHEMA, record_batches

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
