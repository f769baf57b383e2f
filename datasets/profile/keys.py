"""How updates are spread over keys: counts by rank, skew, and how bursty each key is.

Keys are never collected, but for the few busiest: how many keys have how many updates is a small
table, whatever the number of keys, and ranks, shares, the Gini coefficient and what the fit of
Zipf's law needs are computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from .zipf_fit import FEWEST_UPDATES, FitSums, ZipfFit, fit_zipf

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

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
    """Return how updates are spread over the keys of such a table, which is read several times."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    total = table.agg(
        F.count("*").alias("keys"),
        F.sum("updates").alias("updates"),
        F.min("updates").alias("slowest"),
        F.sum("duplicates").alias("duplicates"),
        F.percentile_approx("burstiness", 0.5).alias("burstiness"),
    ).first()
    assert total is not None
    keys, updates = int(total["keys"]), int(total["updates"])
    groups = _groups(table).cache()
    sums = groups.agg(*_sums(keys, updates)).first()
    assert sums is not None
    percents = {each: max(1, keys - (keys * each - 1) // 100) for each in PERCENTS}
    ranks = np.unique(np.geomspace(1, keys, RANKS).round().astype(int)).tolist()
    at = _updates_at(groups, sorted({*ranks, *percents.values()}))
    groups.unpersist()
    busiest = table.orderBy(F.desc("updates"), F.col("key").cast("string")).limit(BUSIEST)
    return KeyProfile(
        keys=keys,
        busiest=tuple(
            BusyKey(str(row["key"]), row["updates"], row["burstiness"]) for row in busiest.collect()
        ),
        slowest_updates=int(total["slowest"]),
        mean_updates=updates / keys,
        percentiles={percent: at[rank] for percent, rank in percents.items()},
        share_of_busiest_1_percent=sums["share_1"],
        share_of_busiest_10_percent=sums["share_10"],
        gini=sums["gini"],
        zipf=fit_zipf(FitSums(sums["fit_keys"], sums["fit_updates"], sums["fit_logs"])),
        ranks=tuple((rank, at[rank]) for rank in ranks),
        duplicates=int(total["duplicates"]),
        burstiness_median=total["burstiness"],
    )


def _groups(table: DataFrame) -> DataFrame:
    """Return how many keys have so many updates, and the ranks and updates before them."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    groups = table.groupBy("updates").agg(F.count("*").alias("keys"))
    # All in one partition: of counts that differ there are few, at most √(2 × updates).
    down = Window.orderBy(F.desc("updates")).rowsBetween(Window.unboundedPreceding, 0)
    return groups.select(
        "updates",
        "keys",
        F.sum("keys").over(down).alias("last_rank"),
        F.sum(F.col("keys") * F.col("updates")).over(down).alias("down_to"),
    )


def _sums(keys: int, updates: int) -> list[Column]:
    """Return the shares, the Gini coefficient and the sums of the fit, over the groups."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    first = F.col("last_rank") - F.col("keys")
    of_group = F.col("keys") * F.col("updates")

    def share(busiest: int) -> Column:
        taken = F.greatest(F.lit(0), F.least(F.col("keys"), F.lit(busiest) - first))
        return F.sum(taken * F.col("updates")) / F.lit(updates)

    below = 2.0 * (F.lit(updates) - F.col("down_to")) + of_group
    is_fitted = F.col("updates") >= FEWEST_UPDATES
    logs = F.col("updates") * (_log_factorial(F.col("last_rank")) - _log_factorial(first))
    return [
        share(-(-keys // 100)).alias("share_1"),
        share(-(-keys // 10)).alias("share_10"),
        (1 - F.sum(F.col("keys") * below) / F.lit(float(keys) * updates)).alias("gini"),
        F.coalesce(F.sum(F.when(is_fitted, F.col("keys"))), F.lit(0)).alias("fit_keys"),
        F.coalesce(F.sum(F.when(is_fitted, of_group)), F.lit(0)).alias("fit_updates"),
        F.coalesce(F.sum(F.when(is_fitted, logs)), F.lit(0.0)).alias("fit_logs"),
    ]


def _log_factorial(number: Column) -> Column:
    """Return ln n!, by Stirling's series: within 10⁻³ for 1, and ever closer above."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    n = number.cast("double")
    series = (n + 0.5) * F.log(n) - n + 0.5 * float(np.log(2 * np.pi)) + 1 / (12 * n)
    return F.when(n > 1, series - 1 / (360 * n * n * n)).otherwise(0.0)


def _updates_at(groups: DataFrame, ranks: list[int]) -> dict[int, int]:
    """Return how many updates the keys of these ranks have."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    asked = F.explode(F.array(*map(F.lit, ranks)))
    first = F.col("last_rank") - F.col("keys")
    rows = groups.select("updates", "last_rank", first.alias("first"), asked.alias("rank"))
    is_in = (F.col("rank") > F.col("first")) & (F.col("rank") <= F.col("last_rank"))
    return {row["rank"]: row["updates"] for row in rows.where(is_in).collect()}
