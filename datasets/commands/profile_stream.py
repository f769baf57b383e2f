"""`python -m datasets profile`: the report's Figure 8 for any stream, as numbers and as a plot."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import BadOptionError
from ..output.folder import output_folder
from ..profile.times import SECONDS_PER_UNIT, TimeColumn
from .job import command_line, errors_shown, job, need_spark, usage_errors
from .options import Cores, Json

if TYPE_CHECKING:
    from ..profile.report import Profile


def plot_path(path: Path | None) -> Path | None:
    """Return where a plot can be written; a usage error if it is not a writable PNG path."""
    if path is None:
        return None
    if path.suffix.lower() != ".png":
        raise typer.BadParameter(f"{path} does not end in .png.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}.")
    return path


def positive_or_none(number: float | None) -> float | None:
    """Return a number that is above zero, or None; anything else is a usage error."""
    if number is not None and not 0 < number < float("inf"):
        raise typer.BadParameter(f"{number:g} is not a finite number above zero.")
    return number


Stream = Annotated[
    Path,
    typer.Argument(
        metavar="PATH", help="A Parquet or CSV file (also .csv.gz), or a folder of them."
    ),
]
TimeName = Annotated[
    str,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The column of times: timestamps, times of day, or numbers, as `--time-unit` says.",
    ),
]
TimeUnit = Annotated[
    str,
    typer.Option("--time-unit", help=f"The unit of numeric times: {', '.join(SECONDS_PER_UNIT)}."),
]
KeyName = Annotated[str, typer.Option("--key", metavar="COLUMN", help="The column of keys.")]
Interval = Annotated[
    float | None,
    typer.Option(
        "--interval",
        metavar="SECONDS",
        callback=positive_or_none,
        help="The interval of counts, for dispersion and peak. [default: 1, or a "
        "hundredth of a stream shorter than 100 s]",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot", dir_okay=False, callback=plot_path, help="Write a plot to this PNG file."
    ),
]
OutFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="A folder to write: `keys/`, Parquet with each key's updates, first and last time, "
        "duplicates and burstiness; `ranks.csv`, `profile.json`, `profile.png`, and a data card.",
    ),
]


def profile_stream(
    path: Stream,
    *,
    time: TimeName = "time",
    time_unit: TimeUnit = "s",
    key: KeyName = "key",
    interval: Interval = None,
    plot: Plot = None,
    out: OutFolder = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Show how uneven a stream is: over its keys, as in the report's Figure 8, and over time.

    Zipf's theta is the maximum-likelihood estimate over the keys with at least ten updates, ranked
    by their counts. Dispersion is the variance over the mean of the
    counts per interval. Burstiness is that of Goh and Barabási, (σ - μ)/(σ + μ) of the times
    between two updates of a key. An update is out of order if its time is before that of the row
    above it in its file.
    """
    need_spark()
    from ..profile.plot import save_plot
    from ..profile.report import measure
    from ..profile.source import Source

    with usage_errors(), errors_shown(), ExitStack() as stack:
        try:
            source = Source.find(path, time=TimeColumn(time, time_unit), key=key)
            folder = stack.enter_context(output_folder(out)) if out is not None else None
            session = stack.enter_context(job("profiling", cores=cores, input_bytes=source.bytes))
            profile = measure(session, source, interval, folder, command_line())
        except BadOptionError as error:
            raise typer.BadParameter(str(error)) from error
        if plot is not None:
            save_plot(profile, plot)
        if folder is not None:
            _write(profile, folder)
    if is_json:
        sys.stdout.write(json.dumps(profile.as_json(), indent=2, allow_nan=False) + "\n")
    else:
        _print(profile)


def _write(profile: Profile, folder: Path) -> None:
    from ..profile.plot import save_plot

    text = json.dumps(profile.as_json(), indent=2, allow_nan=False, ensure_ascii=False)
    (folder / "profile.json").write_text(text + "\n", encoding="utf-8")
    lines = ["rank,updates", *(f"{rank},{updates}" for rank, updates in profile.keys.ranks)]
    (folder / "ranks.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    save_plot(profile, folder / "profile.png")


def _print(profile: Profile) -> None:
    console = Console(highlight=False)
    table = Table(show_header=False, box=None)
    for name, value in profile.as_facts():
        table.add_row(name, value)
    console.print(f"{profile.name}\n", markup=False)
    console.print(table)
