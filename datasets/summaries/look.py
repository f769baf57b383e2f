"""A first look at the events of all runs: how many there are, of which kind, from when to when.

It finds what cannot be summarised: rows that do not parse, kinds that nobody knows, events that are
missing or there twice, times that go backwards. Rows are compared with their neighbours where they
stand, in Arrow batches, which gives one row for each stretch of events without a fault; stretches
are then compared with one another. Only where there is a fault `first_fault` looks for it, row by
row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import BadFileError
from .description import Integrated
from .event_files import read_events
from .faults import first_fault
from .log_format import DESCRIPTION, KINDS
from .runs import Run

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Row, SparkSession

_STRETCH: Final = "run int, first_event long, last_event long, first_time double, last_time double"
_SCHEMA: Final = f"{_STRETCH}, is_bad boolean, counts array<long>"


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
    stretches = _coded(read_events(session, runs)).mapInArrow(_stretches, _SCHEMA)
    found = {row["run"]: row for row in _by_run(stretches).collect()}
    return [_extent(run, found.get(run.number)) for run in runs]


def _coded(frame: DataFrame) -> DataFrame:
    """Return what is needed of each event, as numbers."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

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


def _stretches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield a row for each stretch of events that follow one another as they should."""
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows == 0:
            continue
        run, event, time, code = (column.to_numpy() for column in batch.columns)
        follows = (np.diff(event) == 1) & (np.diff(time) >= 0) & (np.diff(run) == 0)
        firsts = np.concatenate(([0], np.flatnonzero(~follows) + 1))
        lasts = np.concatenate((firsts[1:], [len(event)])) - 1
        pairs = list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))
        yield pa.record_batch(
            {
                "run": run[firsts],
                "first_event": event[firsts],
                "last_event": event[lasts],
                "first_time": time[firsts],
                "last_time": time[lasts],
                "is_bad": np.minimum.reduceat(code, firsts) < 0,
                "counts": pa.array(
                    [_counts(code[first:last]) for first, last in pairs], pa.list_(pa.int64())
                ),
            }
        )


def _counts(codes: np.ndarray[Any, np.dtype[np.int32]]) -> list[int]:
    counted: list[int] = np.bincount(codes + 1, minlength=len(KINDS) + 1)[1:].tolist()
    return counted


def _by_run(stretches: DataFrame) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    before = Window.partitionBy("run").orderBy("first_event", "last_event")
    expected = F.coalesce(F.lag("last_event").over(before), F.lit(-1)) + 1
    is_gap = F.col("first_event") != expected
    is_backwards = F.coalesce(F.lag("last_time").over(before) > F.col("first_time"), F.lit(False))
    faulty = stretches.withColumn("is_bad", F.col("is_bad") | is_gap | is_backwards)
    return faulty.groupBy("run").agg(
        F.max("is_bad").alias("is_bad"),
        F.min("first_time").alias("start"),
        F.max("last_time").alias("end"),
        *(_count_of(place).alias(kind) for place, kind in enumerate(KINDS)),
    )


def _count_of(place: int) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.sum(F.col("counts")[place])


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
        reason = f"it has {events:,} events, and its {DESCRIPTION} says {described.events:,}"
        raise BadFileError(run.folder, f"{reason}: files are missing, or of another run")
    if described.end is not None and is_as_described:
        if described.end < end:
            raise BadFileError(run.folder, f"the last event, at {end!r}, is after its end")
        end = described.end
    integrated = described.integrated if is_as_described else None
    return Extent(run, start, end, counts, integrated)
