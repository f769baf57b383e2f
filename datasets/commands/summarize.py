"""`python -m datasets summarize`: what became of update streams, from the logs of their events."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from ..errors import BadOptionError
from ..output.card import Cell, TableCard, tables_in
from ..output.folder import output_folder
from ..spark.progress import job_progress
from ..summaries.by_time import DEFAULT_BUCKETS
from ..summaries.plots import draw_plots
from ..summaries.report import doubts, show
from ..summaries.runs import Assumed, empty_runs, find_runs
from ..summaries.summary import Asked, Summary
from ..summaries.summary import summarize as summarize_runs
from ..summaries.tables import as_json, write_tables
from .job import command_line, errors_shown, job
from .options import Cores, Json

Results = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESULTS…",
        help="Folders of event logs, and folders of such folders; or single files of events.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The folder to write tables and plots to; it must not exist. [default: only print]",
    ),
]
Buckets = Annotated[
    int,
    typer.Option(
        "--buckets", min=1, max=10_000, help="How many intervals of time to show for each run."
    ),
]
Worst = Annotated[
    int, typer.Option("--worst", min=0, max=1_000, help="How many of the stalest keys to show.")
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="NAME",
        help="The run to compare the others with. [default: in-place, or the first]",
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy", help="The policy of runs without run.json. [default: the name of the folder]"
    ),
]
End = Annotated[
    float | None,
    typer.Option("--end", help="When runs without run.json ended. [default: their last event]"),
]

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


def summarize(
    results: Results,
    *,
    out: Out = None,
    buckets: Buckets = DEFAULT_BUCKETS,
    worst: Worst = 3,
    against: Against = None,
    policy: Policy = None,
    end: End = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Summarise event logs: how stale keys were, by policy, by key and over time.

    Logs are written by `python -m simulator run --events DIR`, and by the service with
    `UPSTREAM_EVENT_LOG=DIR`. Staleness is recomputed from the events by the report's
    definition and compared with the queue's own figure and with the lower bound for memoryless
    arrivals. Policies with the same setting are compared, seed by seed where they share seeds,
    with 95 % intervals from Student's t distribution.

    A log is a folder with `run.json` and files `events-*.parquet` or `events-*.csv`, of which the
    columns are `event` (0, 1, 2 …), `time`, `kind`, `key`, `number` (which update). Kinds are
    `arrival`, `late`, `rejected`, `dequeue`, `delivery`, `return`, `shed`; and, of append queues
    whose sources are out of order, `old` and `old-delivery`. upstream/events/event_format.py
    describes it in full.

    With `--out`: `by_key/` (Parquet; a row for each key of each run), `runs`, `by_time` and
    `comparisons` as CSV and Parquet, `summary.json`, a plot of each, and a data card.
    """
    with errors_shown():
        if end is not None and not math.isfinite(end):
            raise BadOptionError("--end", end, "a finite time")
        runs = find_runs(results, Assumed(policy=policy, end=end))
        left_out = [f"{folder}: left out, as it has no events." for folder in empty_runs(results)]
    asked = Asked(buckets=buckets, worst=worst, against=against)
    size = sum(file.stat().st_size for run in runs for file in run.files)
    summarising = job("summarising", cores=cores, input_bytes=size)
    with errors_shown(), _folder(out) as folder, summarising as session:
        events = "events of one run" if len(runs) == 1 else f"events of {len(runs)} runs"
        with job_progress(session, f"Recomputing staleness from the {events}"):
            summary = summarize_runs(session, runs, folder, asked)
        if out is not None:
            write_tables(summary, folder)
            draw_plots(summary, folder)
            parameters = {**asdict(asked), "policy": policy, "end": end}
            _card(summary, folder, len(left_out), parameters).write(folder)
    if is_json:
        found = {"out": None if out is None else str(out), **as_json(summary)}
        found["doubts"] = [*doubts(summary.runs), *left_out]
        sys.stdout.write(json.dumps(found, indent=2, allow_nan=False) + "\n")
        return
    console = Console(highlight=False)
    show(summary, console)
    for line in left_out:
        console.print(f"\n{line}", markup=False)
    if out is not None:
        console.print(f"\nWritten to {out}.", markup=False)


def _card(
    summary: Summary, folder: Path, left_out: int, parameters: Mapping[str, Cell]
) -> TableCard:
    """Return the card of the tables that were written."""
    runs = summary.runs
    return TableCard(
        title="Summary of event logs",
        command=command_line(),
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


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Give a folder to write to: the output, or a temporary one."""
    if out is not None:
        with output_folder(out) as folder:
            yield folder
        return
    with tempfile.TemporaryDirectory(prefix="upstream-summary-") as place:
        yield Path(place)
