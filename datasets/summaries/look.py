"""A first look at the events of all runs: how many there are, of which kind, from when to when.

It finds what cannot be summarised: rows that do not parse, unknown kinds, events that are missing
or there twice, times that go backwards. Each event is compared with the one before it, in chunks
of consecutive events, so that no task sorts a whole run; then each chunk is compared with the one
before it. Only where there is a fault does `first_fault` look for it, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from upstream.events import DESCRIPTION

from ..errors import BadFileError
from .description import Integrated
from .event_files import KINDS, read_events
from .faults import first_fault
from .runs import Run

_CHUNK_BITS: Final = 16
"""A chunk has two to this power of consecutive events."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How far the events of a run go."""

    run: Run
    start: float
    end: float
    counts: dict[str, int]
    """How many there are of each kind."""
    integrated: Integrated | None
    """What the queue measured until just then, if it is known."""

    @property
    def events(self) -> int:
        """How many there are."""
        return sum(self.counts.values())

    def why_not(self, of: str) -> tuple[str, ...]:
        """Return why this kind of staleness cannot be recomputed; () if it can."""
        reasons = self.run.described.why_not(of)
        is_one = self.run.described.waiting_per_key == "one"
        if of == "queue" and self.counts["return"] and not is_one:
            given_back = f"{self.counts['return']:,} updates were given back"
            return *reasons, f"{given_back} to a queue that may hold several of a key"
        return reasons


def look_over(session: SparkSession, runs: list[Run]) -> list[Extent]:
    """Return how far each run goes; BadFileError names the first fault of the first bad one."""
    chunks = _chunks(_coded(read_events(session, runs)))
    found = {row["run"]: row for row in _by_run(chunks).collect()}
    return [_extent(run, found.get(run.number)) for run in runs]


def _coded(frame: DataFrame) -> DataFrame:
    """Return what is needed of each event, as numbers; the code of a bad event is negative."""
    is_finite = F.abs("time") < float("inf")
    is_whole = is_finite & F.col("event").isNotNull() & F.col("key").isNotNull()
    is_whole &= F.col("number").isNotNull()
    code = F.coalesce(F.array_position(F.lit(list(KINDS)), F.col("kind")), F.lit(0)) - 1
    return frame.select(
        "run",
        F.coalesce("event", F.lit(-1)).alias("event"),
        F.coalesce("time", F.lit(0.0)).alias("time"),
        F.when(F.coalesce(is_whole, F.lit(False)), code).otherwise(-1).cast("int").alias("code"),
    )


def _chunks(events: DataFrame) -> DataFrame:
    """Return a row for each chunk of consecutive events: its ends, its kinds, whether it is bad."""
    chunk = F.shiftright("event", _CHUNK_BITS).alias("chunk")
    before = Window.partitionBy("run", "chunk").orderBy("event")
    is_gap = F.col("event") != F.lag("event").over(before) + 1
    is_backwards = F.col("time") < F.lag("time").over(before)
    is_fault = F.coalesce(is_gap | is_backwards, F.lit(False)) | (F.col("code") < 0)
    checked = events.select("*", chunk).select("*", is_fault.alias("is_fault"))
    return checked.groupBy("run", "chunk").agg(
        F.min("event").alias("first_event"),
        F.max("event").alias("last_event"),
        F.min_by("time", "event").alias("first_time"),
        F.max_by("time", "event").alias("last_time"),
        F.max("is_fault").alias("is_bad"),
        *(F.count_if(F.col("code") == code).alias(kind) for code, kind in enumerate(KINDS)),
    )


def _by_run(chunks: DataFrame) -> DataFrame:
    before = Window.partitionBy("run").orderBy("chunk")
    expected = F.coalesce(F.lag("last_event").over(before), F.lit(-1)) + 1
    is_gap = F.col("first_event") != expected
    is_backwards = F.coalesce(F.lag("last_time").over(before) > F.col("first_time"), F.lit(False))
    faulty = chunks.withColumn("is_bad", F.col("is_bad") | is_gap | is_backwards)
    return faulty.groupBy("run").agg(
        F.max("is_bad").alias("is_bad"),
        F.min("first_time").alias("start"),
        F.max("last_time").alias("end"),
        *(F.sum(f"`{kind}`").alias(kind) for kind in KINDS),
    )


def _extent(run: Run, row: Row | None) -> Extent:
    if row is None:
        raise BadFileError(run.folder, "there are no events in it")
    if row["is_bad"]:
        raise first_fault(run)
    counts = {kind: int(row[kind]) for kind in KINDS}
    if not (counts["arrival"] or counts["old"]):
        raise BadFileError(run.folder, "nothing arrived: there is no event of the kind arrival")
    described = run.described
    events = sum(counts.values())
    start, end = float(row["start"]), float(row["end"])
    if described.start is not None:
        if described.start > start:
            raise BadFileError(run.folder, f"the first event, at {start!r}, is before its `start`")
        start = described.start
    is_as_described = described.events in (None, events)
    if described.is_finished and not is_as_described:
        reason = f"it has {events:,} events, but its {DESCRIPTION} says {described.events:,}"
        raise BadFileError(run.folder, f"{reason}: files are missing or from another run")
    if described.end is not None and is_as_described:
        if described.end < end:
            raise BadFileError(run.folder, f"the last event, at {end!r}, is after its end")
        end = described.end
    integrated = described.integrated if is_as_described else None
    return Extent(run, start, end, counts, integrated)
