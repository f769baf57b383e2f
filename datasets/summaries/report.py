"""The summary as a terminal shows it: runs side by side, comparisons, the stalest keys, doubts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from rich.console import Console
from rich.table import Table

from .comparison import Comparison, Interval
from .description import STALENESS
from .figures import WorstKey
from .summary import TOLERANCE, RunSummary, Summary

EXPLANATION = (
    "Queue, appl., worst: staleness recomputed from the events, averaged over time, then over "
    "keys, and of the stalest key. x bound: over the lower bound expected under memoryless "
    "arrivals at the rates seen. Superseded: of what was accepted. Latency: from "
    "arrival to delivery. Check: by which share it differs from what the queue integrated."
)

NOT_SEEDED = (
    "Runs of one name without seeds, such as two lives of a service's queue, are not independent: "
    "they have no interval, and count for no ratio."
)


def show(summary: Summary, console: Console) -> None:
    """Print a summary."""
    units = " and ".join(sorted({each.run.described.unit for each in summary.runs}))
    console.print(_runs_table(summary.runs))
    console.print(f"\nTimes in {units}. {EXPLANATION}", markup=False)
    if any(row.value.runs > 1 or row.ratio is not None for row in summary.comparisons):
        console.print()
        console.print(_comparison_table(summary.comparisons))
        others = " or ".join(sorted({row.against for row in summary.comparisons}))
        console.print(
            f"\nRatios are to {others}, of runs with the same seed and setting. 95 %: intervals of "
            "Student's t distribution over the runs.",
            markup=False,
        )
        if any(row.value.runs > 1 and not row.is_seeded for row in summary.comparisons):
            console.print(f"\n{NOT_SEEDED}", markup=False)
    if any(each.figures.worst for each in summary.runs):
        console.print()
        console.print(_worst_table(summary.runs))
    for doubt in doubts(summary.runs):
        console.print(f"\n{doubt}", markup=False)


def doubts(runs: Sequence[RunSummary]) -> Iterator[str]:
    """Yield warnings about the figures: assumptions, unfinished runs, and differences."""
    for each in runs:
        described, folder = each.run.described, each.run.folder
        if described.is_assumed:
            yield (
                f"{folder}: there is no run.json; assumed are the policy {described.policy!r}, one "
                f"waiting update per key, and the end {each.extent.end:.9g}."
            )
        elif not described.is_finished:
            yield f"{folder}: the run did not finish; it is summarised as far as it was written."
        for of in STALENESS:
            if each.staleness[of].why_not:
                reasons = "; ".join(each.staleness[of].why_not)
                yield f"{folder}: {of} staleness cannot be recomputed: {reasons}."
        if each.is_confirmed is False:
            yield (
                f"{folder}: what was recomputed is NOT what the queue integrated, to "
                f"{TOLERANCE:g}. The log is not of the whole run, or what wrote it has a fault."
            )


def _runs_table(runs: Sequence[RunSummary]) -> Table:
    table = _table("run", "seed")
    for name in ("queue", "x bound", "worst", "appl.", "superseded", "latency", "check"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in sorted(runs, key=_freshness):
        queue, application = (each.staleness[of] for of in STALENESS)
        checked = [queue.differs_by, application.differs_by]
        known = [difference for difference in checked if difference is not None]
        table.add_row(
            each.run.described.name,
            "-" if each.run.described.seed is None else str(each.run.described.seed),
            number(queue.mean),
            _ratio(each, queue.times_the_bound),
            number(queue.at(100)),
            number(application.mean),
            "-" if each.superseded_share is None else f"{each.superseded_share:.1%}",
            number(each.figures.latency_mean),
            f"{max(known):.0e}" if known else "-",
        )
    return table


def _comparison_table(comparisons: Sequence[Comparison]) -> Table:
    table = _table("", "run")
    for name in ("runs", "mean", "95 %", "ratio", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in comparisons:
        ratio = each.ratio
        table.add_row(
            "appl." if each.of == "application" else each.of,
            each.name,
            str(each.value.runs),
            number(each.value.mean),
            _bounds(each.value, number),
            "" if ratio is None else f"{ratio.mean:.4g}",
            "" if ratio is None else _bounds(ratio, "{:.4g}".format),
        )
    return table


def _worst_table(runs: Sequence[RunSummary]) -> Table:
    table = _table("run", "stalest keys")
    for name in ("queue", "appl.", "accepted", "superseded"):
        table.add_column(name, justify="right", no_wrap=True)
    freshest_first = sorted(runs, key=_freshness)
    for name in dict.fromkeys(each.run.described.name for each in freshest_first):
        mine = [each.figures.worst for each in runs if each.run.described.name == name]
        stalest = sorted(chain.from_iterable(mine), key=_key_staleness, reverse=True)
        for key in stalest[: max(map(len, mine))]:
            table.add_row(
                name,
                key.key,
                number(key.queue_staleness),
                number(key.application_staleness),
                f"{key.accepted:,}",
                f"{key.superseded:,}",
            )
    return table


def number(value: float | None) -> str:
    """Return a time as it is shown."""
    if value is None:
        return "-"
    if value >= 1_000:
        return f"{value:,.0f}"
    digits = 4 if value >= 0.01 else 3 if value >= 0.001 else 2  # seven characters at most
    return f"{value:.{digits}g}"


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for name in names:
        table.add_column(name, overflow="fold")  # where it is too wide, these give way
    return table


def _ratio(each: RunSummary, times: float | None) -> str:
    """Return how many times the bound it is; the bound is for queues that let every key wait."""
    return "-" if times is None or each.has_skipped else f"{times:.3g}"


def _bounds(found: Interval, shown: Callable[[float], str]) -> str:
    if found.low is None or found.high is None:
        return "-"
    return f"{shown(found.low)} to {shown(found.high)}"


def _key_staleness(key: WorstKey) -> float:
    queue, application = key.queue_staleness, key.application_staleness
    return (application if queue is None else queue) or 0.0


def _freshness(each: RunSummary) -> tuple[bool, float]:
    mean = each.staleness["application"].mean
    return mean is None, mean or 0.0
