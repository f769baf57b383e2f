"""What an update costs its consumer, measured from a log whose `run.json` does not say it.

It is the time for which something was handed out and not delivered yet, over the deliveries. So a
batch that is handed out at once counts once, and two consumers at once give what one update costs
both together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .event_files import read_events
from .runs import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def measured_costs(session: SparkSession, runs: list[Run]) -> dict[int, float]:
    """Return the processing cost of each of these runs; a run without deliveries has none.

    Each run's dequeues and deliveries are sorted by one task, as they are one line of time.
    """
    if not runs:
        return {}
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

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
