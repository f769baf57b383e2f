"""The tuples of a run in order of time, and the tolls of the days before.

Spark computes the tuples one direction of a road at a time. Each direction is drawn from the seed
and its own number, and rows are sorted by columns that identify them. So the same run gives the
same rows in the same order, whatever the number of partitions.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..output.card import DataCard, write_card
from ..output.trace import ROWS_PER_FILE, measure_trace, write_trace
from ..spark.paths import path_to_read
from ..spark.progress import job_progress
from .road import START_SHARE, Run
from .summary import summarize
from .tuples import HISTORY_DAYS, MEANINGS, NAMES, SCHEMA, record_batches

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
    part = F.col("time") / run.seconds
    came = START_SHARE * part + (1 - START_SHARE) / 2 * part * part
    share = came / (START_SHARE + (1 - START_SHARE) / 2)
    return F.least(F.lit(count - 1), F.floor(share * count).cast("int"))


TOLLS: Final = 100


def toll_history(cars: DataFrame, run: Run) -> DataFrame:
    """Return the tolls of these cars, which are the column `key`, in order of car and day."""
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


def write_run(
    session: SparkSession, run: Run, partitions: int | None, folder: Path, tolls: Path | None
) -> DataCard:
    """Write the tuples and their card, and what cars paid before if there is a folder for it."""
    with job_progress(session, "Driving"):
        write_trace(generate(session, run, partitions=partitions), folder)
    card = _card(session, folder, run)
    write_card(card, folder)
    if tolls is not None:
        with job_progress(session, "Writing what cars paid before"):
            cars = session.read.parquet(path_to_read(folder)).select("key").distinct()
            write_history(toll_history(cars, run), tolls)
    return card


def _card(session: SparkSession, folder: Path, run: Run) -> DataCard:
    with job_progress(session, "Counting what was written"):
        trace = measure_trace(session, folder, MEANINGS)
        seen = summarize(session.read.parquet(path_to_read(folder)))
    options: dict[str, int | float] = {
        "xways": run.expressways,
        "minutes": run.minutes,
        "rate": run.rate,
        "accidents": run.accidents,
        "requests": run.requests,
    }
    words = " ".join(f"--{name} {value}" for name, value in options.items())
    flag = " --travel-times" if run.has_travel_times else ""
    return DataCard(
        title="Linear Road",
        command=f"python -m datasets linear-road {words}{flag} --seed {run.seed} --out DIR",
        trace=trace,
        seed=run.seed,
        parameters={**options, "travel-times": run.has_travel_times},
        notes=seen.notes(),
    )
