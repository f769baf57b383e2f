"""How stale each key was: a row for each key of each run, from the stretches of its updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadFileError
from .description import STALENESS
from .faults import fault_at, place_of_event
from .look import Extent
from .runs import Run
from .stretches import area

COUNTERS: Final = {
    "late": ("late",),
    "rejected": ("rejected",),
    "dequeued": ("dequeue",),
    "delivered": ("delivery", "old-delivery"),
    "returned": ("return",),
    "shed": ("shed",),
}
"""Counters by name, and the kinds of events that each counts."""


def by_key(events: DataFrame, extents: Sequence[Extent]) -> DataFrame:
    """Return a row for each key of each run: how stale it was, and what became of its updates.

    Staleness that cannot be recomputed is null. `odd` is the first event that cannot be, if any.
    A key counts from `first_arrival` on, in seconds since the start of the run.
    """
    kind = F.col("kind")
    latency = F.when(kind.isin("delivery", "old-delivery"), F.col("time") - F.col("since"))
    grouped = events.groupBy("run", "key").agg(
        *(F.sum(area(of)).alias(of) for of in STALENESS),
        F.count_if(kind.isin("arrival", "old")).alias("accepted"),
        *(F.count_if(kind.isin(*kinds)).alias(name) for name, kinds in COUNTERS.items()),
        F.count_if(_is_superseded(_among(extents, _has_one))).alias("superseded"),
        F.count_if(_is_pending()).alias("pending"),
        F.mean(latency).alias("latency_mean"),
        F.min("since").alias("first_arrival"),
        F.first("end_of_run").alias("end_of_run"),
        F.min(F.when(F.col("is_odd"), F.col("event"))).alias("odd"),
    )
    # Where one waits at a time, all that is pending but the newest was superseded.
    more = F.when(_among(extents, _has_one), F.greatest(F.col("pending") - 1, F.lit(0)))
    return grouped.select(
        *("run", "key"),
        *(_mean(of, extents).alias(f"{of}_staleness") for of in STALENESS),
        *("accepted", *COUNTERS),
        (F.col("superseded") + F.coalesce(more, F.lit(0))).alias("superseded"),
        *("latency_mean", "first_arrival", "odd"),
    )


def odd_event(run: Run, event: int) -> BadFileError:
    """Return the error for an event of an update that never arrived, or arrived twice."""
    path, place, cells = place_of_event(run, event)
    what = f"{cells['kind']} of update {cells['number']} of key {cells['key']!r}"
    why = "which never arrived"
    if cells["kind"] in ("arrival", "old"):
        why = "whose number is not above those of the updates of the key that arrived before"
    return fault_at(path, place, f"{what}, {why}")


def _mean(of: str, extents: Sequence[Extent]) -> Column:
    """Return the average over time since the first arrival; null if it cannot be told."""
    lifetime = F.col("end_of_run") - F.col("first_arrival")
    mean = F.when(lifetime > 0, F.col(of) / lifetime).otherwise(F.when(lifetime == 0, 0.0))
    return F.when(_among(extents, lambda extent: not extent.why_not(of)), mean)


def _is_superseded(has_one: Column) -> Column:
    """Return whether an event tells that an update was superseded, of whichever kind it is.

    This is an arrival without later events although the queue handed out something newer, or an
    update that was given back when a newer one was known, or before a newer one arrived.
    """
    is_silent = F.col("fate").isNull()
    by_service = (F.col("kind") == "arrival") & is_silent & F.col("is_reached")
    by_newer = has_one & is_silent & ~F.col("is_newest")
    return by_service | ((F.col("kind") == "return") & (~F.col("waits") | by_newer))


def _is_pending() -> Column:
    return (F.col("kind") == "arrival") & F.col("fate").isNull() & ~F.col("is_reached")


def _has_one(extent: Extent) -> bool:
    return extent.run.described.waiting_per_key == "one"


def _among(extents: Sequence[Extent], is_meant: Callable[[Extent], bool]) -> Column:
    """Return whether a row is of one of the runs that are meant."""
    return F.col("run").isin([extent.run.number for extent in extents if is_meant(extent)])
