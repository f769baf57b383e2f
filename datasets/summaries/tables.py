"""The summary as tables of plain values: what is written as CSV and Parquet, and as JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from ..output.card import Cell, TableCard, tables_in
from .comparison import Comparison, Interval
from .description import STALENESS
from .summary import RunSummary, Summary

Row = dict[str, Cell]

PERCENTILES = (50, 90, 99)


def run_row(each: RunSummary) -> Row:
    """Return what is known of a run."""
    described, extent = each.run.described, each.extent
    row: Row = {
        "name": described.name,
        "policy": described.policy,
        "seed": described.seed,
        "setting": described.setting,
        "folder": str(each.run.folder),
        "unit": described.unit,
        "start": extent.start,
        "end": extent.end,
        "is_finished": described.is_finished,
        "is_described": not described.is_assumed,
        "events": extent.events,
        "keys": each.figures.keys,
    }
    for of in STALENESS:
        row |= _staleness(each, of)
    row |= dict(each.figures.counters)
    row |= {
        "superseded": each.superseded,
        "superseded_share": each.superseded_share,
        "latency_mean": each.figures.latency_mean,
        "processing_cost": each.cost,
        "is_cost_measured": each.is_cost_measured,
        "is_confirmed": each.is_confirmed,
    }
    return row


def bucket_rows(summary: Summary) -> list[Row]:
    """Return a row for each run and stretch of time."""
    names = {each.run.number: each.run.described for each in summary.runs}
    return [
        {
            "run": bucket.run,
            "name": names[bucket.run].name,
            "seed": names[bucket.run].seed,
            "begin": bucket.begin,
            "end": bucket.end,
            **{f"{of}_staleness": value for of, value in bucket.staleness.items()},
        }
        for bucket in summary.buckets
    ]


def comparison_row(each: Comparison) -> Row:
    """Return a comparison in one row."""
    return {
        "setting": each.setting,
        "staleness": each.of,
        "name": each.name,
        "is_seeded": each.is_seeded,
        **_interval("mean", each.value),
        "against": each.against,
        **_interval("ratio", each.ratio),
    }


def as_json(summary: Summary) -> dict[str, object]:
    """Return the summary as a JSON object."""
    runs = []
    for each in summary.runs:
        worst = [{name: getattr(key, name) for name in key.__slots__} for key in each.figures.worst]
        why_not = {of: list(each.staleness[of].why_not) for of in STALENESS}
        setting = json.loads(each.run.described.setting)
        row: dict[str, object] = {**run_row(each), "setting": setting}
        runs.append({**row, "not_told": why_not, "worst_keys": worst})
    return {
        "runs": runs,
        "comparisons": [comparison_row(each) for each in summary.comparisons],
        "by_time": bucket_rows(summary),
    }


def write_tables(summary: Summary, folder: Path) -> None:
    """Write the summary beside the table by key: as JSON, and its tables as CSV and as Parquet."""
    text = json.dumps(as_json(summary), indent=2, allow_nan=False, ensure_ascii=False)
    (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    _write(folder / "runs", [{"run": each.run.number, **run_row(each)} for each in summary.runs])
    _write(folder / "by_time", bucket_rows(summary))
    _write(folder / "comparisons", [comparison_row(each) for each in summary.comparisons])


MEANINGS: Final = {
    "run": "the number of the run, from 0",
    "key": "the key",
    "name": "how the run is called: its policy, or its queue",
    "seed": "of the random numbers of the run",
    "setting": "what runs that are compared have in common, as JSON",
    "folder": "where the log is",
    "unit": "of times",
    "events": "how many there are in the log",
    "keys": "how many have arrivals",
    "queue_staleness": "time since the first update after the last dequeued; averaged over time",
    "application_staleness": "time since the first update after the newest delivered; likewise",
    "accepted": "updates that arrived and were taken",
    "late": "updates older than one that was known",
    "rejected": "updates that were not taken, as the queue was full",
    "dequeued": "updates handed to consumers",
    "delivered": "updates that consumers were done with",
    "returned": "updates that consumers gave back",
    "shed": "updates dropped to make room",
    "superseded": "updates that a newer one took the place of before they were handed out",
    "latency_mean": "from arrival to delivery, on average",
    "first_arrival": "when the key began, since the start of the run",
    "begin": "where the part of the run begins",
    "end": "where the run, or its part, ends",
    "staleness": "of which kind",
    "mean": "over runs; `_low` and `_high` are the ends of its 95 % interval",
    "against": "the run that it is compared with",
    "ratio": "to that run, by seeds; `_low` and `_high` are the ends of its 95 % interval",
}
"""Of columns of the tables; others say what they are by their names."""
NOTE: Final = (
    "`runs`, `by_time` and `comparisons` are there as CSV, too; `summary.json` has all of it. "
    "Every event was read, or the summary would have been refused."
)


def card_of(
    summary: Summary, folder: Path, command: str, parameters: Mapping[str, Cell], left_out: int
) -> TableCard:
    """Return the card of the tables in a folder; `left_out` runs had no events."""
    runs = summary.runs
    return TableCard(
        title="Summary of event logs",
        command=command,
        read={
            "runs": len(runs),
            "files": sum(len(each.run.files) for each in runs),
            "events": sum(each.extent.events for each in runs),
        },
        tables=tables_in(folder, MEANINGS),
        dropped={"runs without events": left_out} if left_out else {},
        parameters={name: value for name, value in parameters.items() if value is not None},
        notes=(NOTE,),
    )


def _write(path: Path, rows: Sequence[Row]) -> None:
    if not rows:
        return
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(list(rows)), path.with_suffix(".parquet"))


def _staleness(each: RunSummary, of: str) -> Row:
    found = each.staleness[of]
    return {
        f"{of}_staleness": found.mean,
        **{f"{of}_staleness_p{percent}": found.at(percent) for percent in PERCENTILES},
        f"{of}_staleness_worst": found.at(100),
        f"{of}_lower_bound_memoryless": found.lower_bound,
        f"{of}_times_the_bound": found.times_the_bound,
        f"{of}_staleness_integrated": found.integrated,
        f"{of}_differs_by": found.differs_by,
    }


def _interval(name: str, found: Interval | None) -> Row:
    if found is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None, f"{name}_runs": 0}
    return {
        name: found.mean,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
        f"{name}_runs": found.runs,
    }
