"""The figures of each run, over its keys: means, percentiles, worst keys, counters, update rates.

All of it is worked out of the table by key, and a few rows for each run come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from upstream import staleness_lower_bound

from .by_key import COUNTERS
from .log_format import STALENESS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

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
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

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
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    staleness = F.coalesce("queue_staleness", "application_staleness")
    stalest_first = Window.partitionBy("run").orderBy(F.desc_nulls_last(staleness), "key")
    ranked = known.withColumn("rank", F.row_number().over(stalest_first))
    return ranked.where(F.col("rank") <= most).select("run", "rank", *WorstKey.__slots__)
