"""How updates are spread over keys: counts by rank, skew, and how bursty each key is.

Keys are never collected, but for the few busiest: how many keys have how many updates is a small
table, whatever the number of keys, and ranks, shares, the Gini coefficient and what the fit of
Zipf's law needs are computed from it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

import numpy as np
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..spark.together import collect_together
from .zipf_fit import FEWEST_UPDATES, FitSums, ZipfFit, fit_zipf

RANKS: Final = 100
"""About how many ranks are kept, more of the busy ones, as in Figure 8 of the simulator."""
PERCENTS: Final = (1, 5, 25, 50, 75, 95, 99)
BUSIEST: Final = 10
FEWEST_FOR_BURSTINESS: Final = 10
"""Updates without which a key's burstiness says nothing."""


@dataclass(frozen=True, slots=True)
class BusyKey:
    """One of the busiest keys."""

    key: str
    updates: int
    burstiness: float | None


@dataclass(frozen=True, slots=True)
class KeyProfile:
    """How updates are spread over keys."""

    keys: int
    busiest: tuple[BusyKey, ...]
    slowest_updates: int
    mean_updates: float
    percentiles: dict[int, int]
    """Of the updates per key."""
    share_of_busiest_1_percent: float
    share_of_busiest_10_percent: float
    gini: float
    zipf: ZipfFit | None
    ranks: tuple[tuple[int, int], ...]
    """Rank and updates, from the busiest."""
    duplicates: int
    """Updates of the same key and time as another, beyond the first."""
    burstiness_median: float | None
    """Of the keys with at least ten updates."""


def key_table(rows: DataFrame) -> DataFrame:
    """Return for each key its updates, first and last time, duplicates and burstiness.

    Burstiness is that of Goh and Barabási, (σ - μ) / (σ + μ) of the times between two updates:
    -1 if they are all the same, 0 if memoryless, towards 1 the burstier the key.
    """
    before = F.lag("time").over(Window.partitionBy("key").orderBy("time"))
    gaps = rows.select("key", "time", (F.col("time") - before).alias("gap"))
    mean, deviation = F.avg("gap"), F.stddev_pop("gap")
    enough = F.count("*") >= FEWEST_FOR_BURSTINESS
    return gaps.groupBy("key").agg(
        F.count("*").alias("updates"),
        F.min("time").alias("first_time"),
        F.max("time").alias("last_time"),
        F.count_if(F.col("gap") == 0).alias("duplicates"),
        F.when(enough & (mean > 0), (deviation - mean) / (deviation + mean)).alias("burstiness"),
    )


def profile_keys(table: DataFrame) -> KeyProfile:
    """Return how updates are spread over the keys of such a table, which is scanned three times.

    One Spark job; cache the table before.
    """
    busiest = table.orderBy(F.desc("updates"), F.col("key").cast("string")).limit(BUSIEST)
    found = collect_together(
        {
            "groups": _groups(table),
            "busiest": busiest.select(F.col("key").cast("string"), "updates", "burstiness"),
            "burstiness": table.agg(F.percentile_approx("burstiness", 0.5).alias("median")),
        }
    )
    groups = sorted(found["groups"], key=lambda row: row["updates"], reverse=True)
    keys, updates = groups[-1]["last_rank"], groups[-1]["down_to"]
    fitted = [row for row in groups if row["updates"] >= FEWEST_UPDATES]
    percents = {each: max(1, keys - (keys * each - 1) // 100) for each in PERCENTS}
    ranks = np.unique(np.geomspace(1, keys, RANKS).round().astype(int)).tolist()
    last_ranks = [row["last_rank"] for row in groups]

    def updates_at(rank: int) -> int:
        return int(groups[bisect_left(last_ranks, rank)]["updates"])

    return KeyProfile(
        keys=keys,
        busiest=tuple(
            BusyKey(row["key"], row["updates"], row["burstiness"])
            for row in sorted(found["busiest"], key=lambda row: (-row["updates"], row["key"]))
        ),
        slowest_updates=groups[-1]["updates"],
        mean_updates=updates / keys,
        percentiles={percent: updates_at(rank) for percent, rank in percents.items()},
        share_of_busiest_1_percent=_of_busiest(groups, -(-keys // 100)) / updates,
        share_of_busiest_10_percent=_of_busiest(groups, -(-keys // 10)) / updates,
        gini=_gini(groups),
        zipf=fit_zipf(
            FitSums(
                sum(row["keys"] for row in fitted),
                sum(row["keys"] * row["updates"] for row in fitted),
                _sum_in_order(row["logs"] for row in fitted),
            )
        ),
        ranks=tuple((rank, updates_at(rank)) for rank in ranks),
        duplicates=sum(row["duplicates"] for row in groups),
        burstiness_median=found["burstiness"][0]["median"],
    )


def _groups(table: DataFrame) -> DataFrame:
    """Return how many keys have so many updates, and the ranks and updates down to them."""
    groups = table.groupBy("updates").agg(
        F.count("*").alias("keys"), F.sum("duplicates").alias("duplicates")
    )
    # All in one partition: of counts that differ there are few, at most √(2 × updates).
    down = Window.orderBy(F.desc("updates")).rowsBetween(Window.unboundedPreceding, 0)
    ranked = groups.select(
        "*",
        F.sum("keys").over(down).alias("last_rank"),
        F.sum(F.col("keys") * F.col("updates")).over(down).alias("down_to"),
    )
    first = F.col("last_rank") - F.col("keys")
    logs = F.col("updates") * (_log_factorial(F.col("last_rank")) - _log_factorial(first))
    return ranked.select("*", logs.alias("logs"))


def _of_busiest(groups: Sequence[Row], busiest: int) -> int:
    """Return the updates of so many of the busiest keys."""
    return sum(
        min(row["keys"], max(0, busiest - row["last_rank"] + row["keys"])) * row["updates"]
        for row in groups
    )


def _gini(groups: Sequence[Row]) -> float:
    keys, updates = groups[-1]["last_rank"], groups[-1]["down_to"]
    below = _sum_in_order(
        row["keys"] * (2.0 * (updates - row["down_to"]) + row["keys"] * row["updates"])
        for row in groups
    )
    gini: float = 1 - below / (float(keys) * updates)
    return gini


def _sum_in_order(numbers: Iterable[float]) -> float:
    """Add one number after the other: `sum` rounds in another way from Python 3.12 on."""
    total: float = reduce(add, numbers, 0.0)
    return total


def _log_factorial(number: Column) -> Column:
    """Return ln n!, by Stirling's series: within 10⁻³ for 1, and ever closer above."""
    n = number.cast("double")
    series = (n + 0.5) * F.log(n) - n + 0.5 * float(np.log(2 * np.pi)) + 1 / (12 * n)
    return F.when(n > 1, series - 1 / (360 * n * n * n)).otherwise(0.0)
