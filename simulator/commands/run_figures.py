"""`python -m simulator list`, `figure NAME` and `all`: run experiments and write their results."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..experiments.experiment import Scale
from ..experiments.registry import EXPERIMENTS, find_experiment
from ..model.simulation import MAX_SEED
from ..runs.results import FILE_NAME, Result, write_summary_page
from ..runs.runner import run_experiments
from .option_checks import usage_errors
from .run_progress import progress_on_errors

Out = Annotated[
    Path, typer.Option("--out", file_okay=False, help="The folder to write the files to.")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=MAX_SEED, help="The seed of all random numbers.")
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Measure fewer updates and points: seconds instead of minutes."),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="How many processes measure at once.")]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Measure everything again, even if an earlier run measured it."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON and nothing else.")]

PROCESSORS: Final = (
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)


def run_figure(
    *,
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="The experiments; `list` shows their names."),
    ],
    out: Out,
    seed: Seed = 1,
    is_quick: Quick = False,
    jobs: Jobs = PROCESSORS,
    is_fresh: Fresh = False,
    is_json: Json = False,
) -> None:
    """Measure figures of the report, or our own experiments: table, plot and verdict.

    For each experiment a CSV file, a plot and the verdict are written into a folder. Results of the
    same code, seed and scale that an earlier run has left in the folder are used again.
    """
    with usage_errors():
        found = list(dict.fromkeys(find_experiment(name).name for name in names))
        _run(found, Scale(seed, is_quick), out, jobs=jobs, is_fresh=is_fresh, is_json=is_json)
        if (out / FILE_NAME).exists():
            write_summary_page(out)


def run_all(
    *,
    out: Out,
    seed: Seed = 1,
    is_quick: Quick = False,
    jobs: Jobs = PROCESSORS,
    is_fresh: Fresh = False,
    is_json: Json = False,
) -> None:
    """Measure all experiments, and write a page with all plots and verdicts.

    You can stop it at any time. The same command then continues where it was stopped.
    """
    with usage_errors():
        scale = Scale(seed, is_quick)
        _run(list(EXPERIMENTS), scale, out, jobs=jobs, is_fresh=is_fresh, is_json=is_json)
        page = write_summary_page(out)
    if not is_json:
        Console().print(
            f"\nThe page with all results: {page}", highlight=False, markup=False, soft_wrap=True
        )


def _run(
    names: Sequence[str], scale: Scale, out: Path, *, jobs: int, is_fresh: bool, is_json: bool
) -> None:
    console = Console()
    results = []
    if not is_json:
        size = "quick" if scale.is_quick else "full"
        console.print(f"Seed {scale.seed}, {size} scale, {jobs} processes.", highlight=False)
    try:
        with _stoppable(), _Bars() as bars:
            for result in run_experiments(
                names, scale, out=out, jobs=jobs, progress=bars, is_fresh=is_fresh
            ):
                results.append(result)
                if not is_json:
                    bars.say(_lines(result, out))
    except KeyboardInterrupt:
        Console(stderr=True).print("Stopped. The same command continues from here.")
        raise typer.Exit(130) from None
    if is_json:
        sys.stdout.write(json.dumps([asdict(result) for result in results], indent=2) + "\n")


@contextmanager
def _stoppable() -> Iterator[None]:
    """Stop the run on SIGTERM as on Ctrl-C, and with it the processes that measure."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _lines(result: Result, out: Path) -> str:
    label = f"Figure {result.name}" if EXPERIMENTS[result.name].is_figure else result.name
    held = {True: "The claim held. ", False: "The claim did not hold. ", None: ""}[result.held]
    return f"{label}: {held}{result.verdict}\n  {out / result.table}, {out / result.plot}"


class _Bars:
    """Progress bars on the error output, so that the results can be piped."""

    def __init__(self) -> None:
        self._progress = progress_on_errors(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        )
        self._all = self._progress.add_task("points measured", total=0)
        self._total = 0

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def expect(self, name: str, *, points: int, measured: int) -> None:
        self._total += points
        self._progress.update(self._all, total=self._total)
        self._progress.advance(self._all, measured)

    def advance(self, name: str) -> None:
        self._progress.advance(self._all)
        self._progress.update(self._all, description=f"points measured ({name})")

    def say(self, lines: str) -> None:
        self._progress.stop()  # removes the bar from the screen
        sys.stdout.write(lines + "\n")
        sys.stdout.flush()
        self._progress.start()


def list_experiments(
    *,
    is_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the experiments: the report's figures and our own.

    Run one with `python -m simulator figure NAME --out DIR`, or all of them with
    `python -m simulator all --out DIR`.
    """
    if is_json:
        found = [
            {"name": each.name, "title": each.title, "claim": each.claim}
            for each in EXPERIMENTS.values()
        ]
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    table = Table("name", "what it shows", "what is claimed or asked", box=None, pad_edge=False)
    for each in EXPERIMENTS.values():
        label = f"figure {each.name}" if each.is_figure else each.name
        table.add_row(label, each.title, each.claim)
    Console().print(table)
