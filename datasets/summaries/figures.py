"""The figures of each run, over its keys: means, percentiles, worst keys, counters, update rates.

All of it except the processing cost is computed from the table by key, and a few rows for each run
come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from upstream import staleness_lower_bound

from .by_key import COUNTERS
from .description import STALENESS
from .event_files import read_events
from .runs import Run

POINTS: Final = 100
"""Into how many parts the keys are divided, for their distribution."""


@dataclass(frozen=True, slots=True)
class WorstKey:
    """One of the stalest keys of a run."""

    key: str
    queue_staleness: float | None
    application_staleness: float | None
    accepted: int
    superseded: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What the keys of one run come to."""

    keys: int
    means: dict[str, float | None]
    """By kind of staleness; None where it cannot be recomputed."""
    quantiles: dict[str, tuple[float, ...]]
    """The staleness of the freshest key, of the one 1 % on, and so on to the stalest."""
    counters: dict[str, int]
    latency_mean: float | None
    odd: int | None
    """The first event of an update that never arrived, or arrived twice, if there is one."""
    worst: tuple[WorstKey, ...]
    rates: tuple[tuple[int, int], ...]
    """How many updates were accepted, and of how many keys just so many were."""


def figure_frames(table: DataFrame, *, worst: int) -> dict[str, DataFrame]:
    """Return the small frames that the figures of each run, and its `worst` keys, come from.

    They have O(runs) rows, but for the rates: at most about the root of twice the number of events.
    """
    known = table.where("accepted > 0")
    shares = F.array(*(F.lit(point / POINTS) for point in range(POINTS + 1)))
    delivered = F.when(F.col("latency_mean").isNotNull(), F.col("delivered")).otherwise(0)
    of_runs = table.groupBy("run").agg(
        F.count_if(F.col("accepted") > 0).alias("keys"),
        *(F.mean(f"{of}_staleness").alias(of) for of in STALENESS),
        *(F.percentile(f"{of}_staleness", shares).alias(f"{of}_quantiles") for of in STALENESS),
        *(F.sum(name).alias(name) for name in ("accepted", "superseded", *COUNTERS)),
        (F.sum(F.col("latency_mean") * delivered) / F.sum(delivered)).alias("latency_mean"),
        F.min("odd").alias("odd"),
    )
    rates = known.groupBy("run", "accepted").agg(F.count("*").alias("keys"))
    return {"runs": of_runs, "rates": rates, "worst": _worst(known, worst)}


def figures(found: Mapping[str, Sequence[Row]]) -> dict[int, Figures]:
    """Return the figures of each run, by its number, from the rows of these frames."""
    rates: dict[int, list[tuple[int, int]]] = {}
    for row in sorted(found["rates"], key=lambda row: row["accepted"]):
        rates.setdefault(row["run"], []).append((row["accepted"], row["keys"]))
    worst: dict[int, list[WorstKey]] = {}
    for row in sorted(found["worst"], key=lambda row: row["rank"]):
        key = WorstKey(**{name: row[name] for name in WorstKey.__slots__})
        worst.setdefault(row["run"], []).append(key)
    return {
        row["run"]: Figures(
            keys=row["keys"],
            means={of: row[of] for of in STALENESS},
            quantiles={of: tuple(row[f"{of}_quantiles"] or ()) for of in STALENESS},
            counters={name: row[name] for name in ("accepted", "superseded", *COUNTERS)},
            latency_mean=row["latency_mean"],
            odd=row["odd"],
            worst=tuple(worst.get(row["run"], ())),
            rates=tuple(rates.get(row["run"], ())),
        )
        for row in found["runs"]
    }


def lower_bound(found: Figures, *, seconds: float, cost: float, of: str) -> float | None:
    """Return the memoryless lower bound on the mean staleness, at the rates that were seen."""
    if seconds <= 0 or not found.rates:
        return None
    accepted, keys = np.array(found.rates, dtype=np.float64).T
    rates = np.repeat(accepted / seconds, keys.astype(np.int64))
    return staleness_lower_bound(rates, cost, of=of)


def _worst(known: DataFrame, most: int) -> DataFrame:
    staleness = F.coalesce("queue_staleness", "application_staleness")
    stalest_first = Window.partitionBy("run").orderBy(F.desc_nulls_last(staleness), "key")
    ranked = known.withColumn("rank", F.row_number().over(stalest_first))
    return ranked.where(F.col("rank") <= most).select("run", "rank", *WorstKey.__slots__)


def measured_costs(session: SparkSession, runs: list[Run]) -> dict[int, float]:
    """Return what an update of each of these runs costs its consumer; their `run.json` do not say.

    It is the time for which something was handed out and not delivered yet, over the deliveries. So
    a batch that is handed out at once counts once, and two consumers at once give what one update
    costs both together. A run without deliveries has no cost.

    Each run's dequeues and deliveries are sorted by one task, as they are one line of time.
    """
    if not runs:
        return {}
    is_end = F.col("kind").isin("delivery", "old-delivery", "return")
    steps = read_events(session, runs).where((F.col("kind") == "dequeue") | is_end)
    in_order = Window.partitionBy("run").orderBy("event")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    in_process = F.sum(F.when(is_end, -1).otherwise(1)).over(so_far)
    duration = F.lead("time").over(in_order) - F.col("time")
    is_delivery = F.col("kind").isin("delivery", "old-delivery")
    timed = steps.select(
        "run", is_delivery.alias("is_delivery"), F.when(in_process > 0, duration).alias("busy")
    )
    sums = timed.groupBy("run").agg(
        F.sum("busy").alias("busy"), F.count_if("is_delivery").alias("deliveries")
    )
    return {
        row["run"]: row["busy"] / row["deliveries"]
        for row in sums.collect()
        if row["deliveries"] and row["busy"]
    }
