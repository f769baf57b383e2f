"""Staleness from raw events, by the report's definition (section 3.3), in window functions.

An accepted update makes its key stale from its arrival until something reaches it: for queue
staleness the first dequeue, for application staleness the first delivery, of an update of the key
that is as new or newer. Staleness counts from the first update that is not reached yet, so each
update has the key to itself from when all before it are reached until it is: its *stretch*, along
which staleness rises from `begin - since` to `end - since`.

    update 1   ├────────────────┤            since 1 until it is reached,
    update 2        ├───────────┤            2 is reached with it: it has no stretch,
    update 3             ├───────────┤       since 3 from there on

Two windows per key do it, both over the numbers of updates, which rise as they arrive. From the
newest to the oldest: the least time at which anything as new was dequeued, or delivered, is when an
update is reached. From the oldest to the newest: the greatest of these times, of all before it, is
when its stretch begins. No time is ever compared with that of another key, and nothing is sampled.

Two things make it more than that. An update that was shed while it waited ends its own wait only.
One that was given back begins a second wait, as of its first arrival, unless a newer one had been
accepted; in a queue with one waiting update per key nothing else waits then, so its row is one more
update with the same number. Where many may wait that is not so, and the caller must not ask.

Times are seconds since the start of the run, so that areas lose no digits to the year 1970.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from .description import STALENESS
from .event_files import read_events
from .look import Extent
from .runs import value_of_run

REACHES: Final = {"queue": "dequeue", "application": "delivery"}
"""Which kind of event makes an update reached."""


def measured_events(session: SparkSession, extents: list[Extent]) -> DataFrame:
    """Return the events of all runs, each with the stretch that begins with it, if one does.

    Columns: `run, key, event, time, kind, number, end_of_run`; `since`, the arrival of the update;
    `queue_begin, queue_end, application_begin, application_end`, null where there is no stretch;
    `fate`, the kind of what happened next to this very update; `is_reached`, whether the queue
    handed out something as new; `is_newest`, whether nothing newer was accepted in the run;
    `is_odd` for what cannot be: an event of an update that has not arrived.
    """
    start = value_of_run([each.start for each in extents], "double")
    end = value_of_run([each.end - each.start for each in extents], "double")
    events = read_events(session, [extent.run for extent in extents])
    events = events.withColumns({"time": F.col("time") - start, "end_of_run": end})
    return _with_stretches(_with_ends(events))


def _with_ends(events: DataFrame) -> DataFrame:
    """Look at each key from its newest update to the oldest: when is what reached?"""
    newest_first = Window.partitionBy("run", "key").orderBy(F.desc("number"), F.desc("event"))
    as_new = newest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # The row before has the next thing that happened to the same update, if it has its number.
    is_same = F.lag("number").over(newest_first) == F.col("number")
    next_kind = F.when(is_same, F.lag("kind").over(newest_first))
    shed_at = F.when(next_kind == "shed", F.lag("time").over(newest_first))
    accepted_at = F.when(F.col("kind") == "arrival", F.col("event"))
    newer_at, newest_at = F.min(accepted_at).over(as_new), F.max(accepted_at).over(as_new)
    is_accepted = F.col("kind").isin("arrival", "old")
    # Given back, it waits again unless something newer had arrived by then.
    waits_again = (F.col("kind") == "return") & (newer_at.isNull() | (newer_at > F.col("event")))
    reached = {of: F.min(_time_of(REACHES[of])).over(as_new) for of in STALENESS}
    return events.select(
        "*",
        F.least(reached["queue"], shed_at).alias("queue_end"),
        reached["application"].alias("application_end"),
        (is_accepted | waits_again).alias("waits"),
        reached["queue"].isNotNull().alias("is_reached"),
        F.coalesce(newest_at == F.col("event"), F.lit(True)).alias("is_newest"),
        next_kind.alias("fate"),
    )


def _with_stretches(events: DataFrame) -> DataFrame:
    """Look at each key from its oldest update to the newest: when does a stretch begin?"""
    oldest_first = Window.partitionBy("run", "key").orderBy("number", "event")
    so_far = oldest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = oldest_first.rowsBetween(Window.unboundedPreceding, -1)
    has_stretch = {"queue": F.col("waits"), "application": F.col("kind") == "arrival"}
    ends = {of: F.coalesce(f"{of}_end", "end_of_run") for of in STALENESS}
    begins = {
        of: F.greatest("time", F.max(F.when(has_stretch[of], ends[of])).over(before))
        for of in STALENESS
    }
    bounds = [
        F.when(has_stretch[of] & (begins[of] < ends[of]), bound[of]).alias(f"{of}_{name}")
        for of in STALENESS
        for name, bound in (("begin", begins), ("end", ends))
    ]
    is_accepted = F.col("kind").isin("arrival", "old")
    arrived = F.when(is_accepted, F.col("number"))
    is_again = is_accepted & (
        (F.max(arrived).over(before) >= F.col("number"))
        | (F.max(F.when(is_accepted, F.col("event"))).over(before) > F.col("event"))
    )
    is_unheard = ~F.col("kind").isin("arrival", "old", "late", "rejected") & (
        F.coalesce(F.max(arrived).over(so_far), F.lit(-1)) != F.col("number")
    )
    return events.select(
        *("run", "key", "event", "time", "kind", "number", "end_of_run"),
        F.max(F.when(is_accepted, F.col("time"))).over(so_far).alias("since"),
        *bounds,
        *("fate", "is_reached", "is_newest", "waits"),
        (F.coalesce(is_again, F.lit(False)) | is_unheard).alias("is_odd"),
    )


def area(of: str) -> Column:
    """Return the integral of staleness over a stretch, 0 where there is none."""
    begin, end, since = F.col(f"{of}_begin"), F.col(f"{of}_end"), F.col("since")
    rising = (begin - since) + (end - since)
    return F.coalesce((end - begin) * rising / 2, F.lit(0.0))


def _time_of(kind: str) -> Column:
    return F.when(F.col("kind") == kind, F.col("time"))
