"""What each car has paid on each of the last 69 days: the table that expenditure is looked up in.

The tolls are any numbers from 0 to 99 on any expressway, as in the benchmark. They are computed
from the seed, the car and the day, so that no row depends on another.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from .road import Run
from .tuples import HISTORY_DAYS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
