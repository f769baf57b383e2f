"""The summary of runs: what was recomputed of each, beside what its queue said, and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from upstream.staleness import against_bound

from ..errors import BadFileError
from ..spark.paths import path_to_read
from ..spark.together import collect_together
from .by_key import by_key, odd_event
from .by_time import Bucket, by_time, time_frames
from .comparison import Comparison, Sample, compare
from .description import STALENESS
from .figures import Figures, figure_frames, figures, lower_bound, measured_costs
from .look import Extent, look_over
from .runs import Run, value_of_run
from .stretches import measured_events

TOLERANCE: Final = 1e-9
"""How much of it what was recomputed may differ from what the queue integrated."""


@dataclass(frozen=True, slots=True)
class Staleness:
    """One kind of staleness of a run, averaged over time, then over keys."""

    mean: float | None
    """None where it cannot be recomputed, for the reasons `why_not`."""
    why_not: tuple[str, ...]
    quantiles: tuple[float, ...]
    """Over keys, from the freshest to the stalest, in hundredths."""
    lower_bound: float | None
    """Of the mean, for memoryless arrivals at the rates that were seen; None if not known."""
    integrated: float | None
    """What the queue said, None if it is not known."""
    observed: float
    """For how long it was measured."""

    @property
    def times_the_bound(self) -> float | None:
        """The mean over its bound, None where that is 0 or not known, or the run too short."""
        if self.mean is None:
            return None
        return against_bound(self.mean, self.lower_bound, observed=self.observed).times

    @property
    def differs_by(self) -> float | None:
        """By which share of it the mean differs from what the queue said; None if not known."""
        if self.mean is None or self.integrated is None:
            return None
        largest = max(abs(self.mean), abs(self.integrated))
        return abs(self.mean - self.integrated) / largest if largest else 0.0

    def at(self, percent: int) -> float | None:
        """Return a percentile over keys."""
        return self.quantiles[percent] if self.quantiles else None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What is known of one run."""

    extent: Extent
    figures: Figures
    staleness: dict[str, Staleness]
    """By kind."""
    cost: float | None
    """What an update costs its consumer."""
    is_cost_measured: bool
    """Whether it comes from the log, as its description does not say."""

    @property
    def run(self) -> Run:
        """The run."""
        return self.extent.run

    @property
    def superseded(self) -> int | None:
        """How many updates were superseded; None where the log cannot tell."""
        described = self.run.described
        if described.waiting_per_key != "either":
            return self.figures.counters["superseded"]
        integrated = self.extent.integrated
        return None if integrated is None else integrated.counters.get("superseded")

    @property
    def superseded_share(self) -> float | None:
        """The share of accepted updates that was superseded."""
        superseded, accepted = self.superseded, self.figures.counters["accepted"]
        return None if superseded is None or not accepted else superseded / accepted

    @property
    def has_skipped(self) -> bool:
        """Whether updates found no room, which lets a queue look fresher, even than the bound."""
        return bool(self.figures.counters["shed"] or self.figures.counters["rejected"])

    @property
    def is_confirmed(self) -> bool | None:
        """Whether the queue says the same; None if it says nothing that could be compared."""
        differences = [each.differs_by for each in self.staleness.values()]
        known = [difference for difference in differences if difference is not None]
        return all(difference <= TOLERANCE for difference in known) if known else None


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of all runs."""

    runs: Sequence[RunSummary]
    buckets: Sequence[Bucket]
    comparisons: Sequence[Comparison]


@dataclass(frozen=True, slots=True)
class Asked:
    """How much a summary contains."""

    buckets: int
    worst: int
    against: str | None = None


def summarize(session: SparkSession, runs: list[Run], folder: Path, asked: Asked) -> Summary:
    """Summarise runs; the table by key goes to `folder / "by_key"`, as Parquet."""
    _check_once(runs)
    extents = look_over(session, runs)
    events = measured_events(session, extents).persist()
    table = _write_by_key(by_key(events, extents), extents, folder / "by_key")
    frames = figure_frames(table, worst=asked.worst)
    rows = collect_together(frames | time_frames(events, table, extents, asked.buckets))
    events.unpersist()
    found = figures(rows)
    for run in runs:
        odd = found[run.number].odd
        if odd is not None:
            raise odd_event(run, odd)
    buckets = by_time(rows, extents, asked.buckets)
    untold = [run for run in runs if run.described.processing_cost is None]
    costs = measured_costs(session, untold)
    summaries = [_summary(extent, found[extent.run.number], costs) for extent in extents]
    return Summary(summaries, buckets, compare(_samples(summaries), against=asked.against))


def _check_once(runs: Sequence[Run]) -> None:
    """Raise BadFileError if two runs are of the same seed: intervals would take them for two."""
    seen: dict[tuple[object, ...], Run] = {}
    for run in runs:
        described = run.described
        if described.seed is None:
            continue
        other = seen.setdefault((described.setting, described.name, described.seed), run)
        if other is not run:
            what = f"is {described.name} with seed {described.seed} again, as {other.folder} is"
            raise BadFileError(run.folder, what)


def _write_by_key(table: DataFrame, extents: list[Extent], folder: Path) -> DataFrame:
    """Write the table by key, with the names of its runs; return the table as read."""
    described = [each.run.described for each in extents]
    named = table.withColumns(
        {
            "name": value_of_run([each.name for each in described], "string"),
            "policy": value_of_run([each.policy for each in described], "string"),
            "seed": value_of_run([each.seed for each in described], "long"),
        }
    )
    first = ("run", "name", "policy", "seed", "key")
    rest = [column for column in table.columns if column not in first]
    named.select(*first, *rest).write.parquet(str(folder))
    for path in folder.iterdir():  # Spark's checksums, and its note that it was done
        if path.name.startswith((".", "_")):
            path.unlink()
    return table.sparkSession.read.schema(named.select(*first, *rest).schema).parquet(
        path_to_read(folder)
    )


def _summary(extent: Extent, found: Figures, costs: dict[int, float]) -> RunSummary:
    described = extent.run.described
    cost = described.processing_cost
    is_measured = cost is None
    if is_measured:
        cost = costs.get(extent.run.number)
    return RunSummary(
        extent=extent,
        figures=found,
        staleness={of: _staleness(extent, found, of, cost) for of in STALENESS},
        cost=cost,
        is_cost_measured=is_measured,
    )


def _staleness(extent: Extent, found: Figures, of: str, cost: float | None) -> Staleness:
    """Return one kind of staleness, with its bound.

    Several consumers are at most as good as one that is so many times faster, but for the time that
    an update is processed; so they have a bound of their queue staleness only.
    """
    described, integrated = extent.run.described, extent.integrated
    bound = None
    if cost is not None and (of == "queue" or described.servers == 1):
        seconds = extent.end - extent.start
        bound = lower_bound(found, seconds=seconds, cost=cost / described.servers, of=of)
    said = None
    if integrated is not None:
        is_queue = of == "queue"
        said = integrated.queue_staleness if is_queue else integrated.application_staleness
    return Staleness(
        mean=found.means[of],
        why_not=extent.why_not(of),
        quantiles=found.quantiles[of],
        lower_bound=bound,
        integrated=said,
        observed=extent.end - extent.start,
    )


def _samples(summaries: Sequence[RunSummary]) -> list[Sample]:
    return [
        Sample(
            setting=f"{each.run.described.setting} {each.run.described.unit}",
            name=each.run.described.name,
            seed=each.run.described.seed,
            values={of: each.staleness[of].mean for of in STALENESS},
        )
        for each in summaries
    ]
