"""A generated trading day on Spark; `upstream.workloads` has its formulas and explains them.

The number of updates of each symbol is exact, not drawn. So rows are made symbol by symbol and then
have to be put in order of time: this is the only generator that moves its rows.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from upstream.workloads.trading_day import (
    BUSIEST,
    CELLS,
    CLOSES,
    OPENS,
    SYMBOLS,
    busyness,
    check_day,
    made_up_symbols,
    updates_by_rank,
)

from ..errors import BadOptionError
from .key_shares import parameters_as_options
from .randomness import AliasTable, below, driver_random, uniform
from .value_columns import HIGHEST_LEVEL, LOWEST_LEVEL

DEFAULT_DATE: Final = dt.date(2006, 1, 17)

_LARGEST_STEP: Final = 2
_STEP: Final = 2e-4
"""A price moves by a whole number of these, relative to itself, from one update to the next."""
_UPDATES_PER_FILE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TradingDay:
    """The parameters of a day; BadOptionError for values that make no sense."""

    symbols: int = SYMBOLS
    busiest: int = BUSIEST
    shape: str = "power-law"
    date: dt.date = DEFAULT_DATE
    seed: int = 1

    def __post_init__(self) -> None:
        with parameters_as_options():
            check_day(self.shape, symbols=self.symbols, busiest=self.busiest)

    def opens(self) -> float:
        """Return when the market opens, in seconds since 1970, UTC."""
        opening = dt.time(int(OPENS // 3600), int(OPENS % 3600 // 60))
        zone = ZoneInfo("America/New_York")
        return dt.datetime.combine(self.date, opening, tzinfo=zone).timestamp()

    def frame(self, session: SparkSession, partitions: int | None = None) -> DataFrame:
        """Return `time`, `key`, `price` and `size`, in order of time, partition by partition."""
        counts = updates_by_rank(self.shape, symbols=self.symbols, busiest=self.busiest)
        first = counts.cumsum() - counts
        names = made_up_symbols(self.symbols, driver_random(self.seed, "symbols"))
        table = pa.table({"key": names, "first": first, "updates": counts})
        last = F.col("first") + F.col("updates") - 1
        rows = session.createDataFrame(table).select(
            "key", "first", F.explode(F.sequence("first", last)).alias("row")
        )
        timed = self._with_time(rows)
        in_turn = Window.partitionBy("key").orderBy("time", "row")
        steps = below(2 * _LARGEST_STEP + 1, uniform(self.seed, "steps", F.col("row")))
        walked = F.sum(steps - _LARGEST_STEP).over(in_turn)
        level = uniform(self.seed, "levels", F.col("first"))
        start = LOWEST_LEVEL * F.pow(F.lit(HIGHEST_LEVEL / LOWEST_LEVEL), level)
        price = F.floor(start * F.exp(walked * F.lit(_STEP)) * 100.0 + 0.5) / 100.0
        lots = below(10, uniform(self.seed, "sizes", F.col("row"))) + 1
        size = (lots * 100).cast("int")
        priced = timed.select("time", "key", price.alias("price"), size.alias("size"), "row")
        files = partitions or -(-int(counts.sum()) // _UPDATES_PER_FILE)
        ordered = priced.repartitionByRange(files, "time", "row").sortWithinPartitions(
            "time", "row"
        )
        return ordered.drop("row")

    def _with_time(self, rows: DataFrame) -> DataFrame:
        row = F.col("row")
        cells = AliasTable.of(busyness()).draw(rows, uniform(self.seed, "cells", row), "cell")
        place = F.col("cell") + uniform(self.seed, "times", row)
        seconds = place * F.lit((CLOSES - OPENS) / CELLS)
        return cells.withColumn("time", F.lit(self.opens()) + seconds)


def parse_date(text: str) -> dt.date:
    """Return the day that an option names; BadOptionError if it does not name a day."""
    try:
        return dt.date.fromisoformat(text)
    except ValueError as error:
        raise BadOptionError("--date", text, "a day such as 2006-01-17") from error
