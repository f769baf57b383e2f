"""`python -m datasets summarize`: what became of update streams, from the logs of their events."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..errors import BadOptionError
from ..output.card import write_card
from ..output.folder import output_folder
from ..spark.progress import job_progress
from .job import command_line, errors_shown, job, need_spark
from .options import Cores, Json

if TYPE_CHECKING:
    from ..summaries.summary import Summary

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


def summarize(
    results: Results,
    *,
    out: Out = None,
    buckets: Buckets = 50,
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
    need_spark()
    from ..summaries.plots import draw_plots
    from ..summaries.runs import Assumed, empty_runs, find_runs
    from ..summaries.summary import Asked
    from ..summaries.summary import summarize as summarize_runs
    from ..summaries.tables import card_of, write_tables

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
            card = card_of(summary, folder, command_line(), parameters, len(left_out))
            write_card(card, folder)
    _show(summary, left_out, out, is_json=is_json)


def _show(summary: Summary, left_out: list[str], out: Path | None, *, is_json: bool) -> None:
    from ..summaries.report import doubts, show
    from ..summaries.tables import as_json

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


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Give a folder to write to: the output, or a temporary one."""
    if out is not None:
        with output_folder(out) as folder:
            yield folder
        return
    with tempfile.TemporaryDirectory(prefix="upstream-summary-") as place:
        yield Path(place)
