"""The runs to summarise: which folders and files there are, and what `run.json` says of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from upstream.events import DESCRIPTION, FILES, SUFFIXES

from ..errors import BadFileError, BadOptionError
from .description import Description, read_description


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its files in their order, and what is known of it."""

    number: int
    folder: Path
    """The folder, or the file where that is all there is."""
    files: tuple[Path, ...]
    described: Description


@dataclass(frozen=True, slots=True)
class Assumed:
    """The user's options for runs that have no description."""

    policy: str | None = None
    end: float | None = None


def find_runs(places: Sequence[Path], assumed: Assumed) -> list[Run]:
    """Return the runs in these folders and below them, and those that are a file each.

    BadFileError if a place has no run.
    """
    found: dict[Path, tuple[Path, ...]] = {}
    for place in places:
        if not place.exists():
            raise BadFileError(place, "there is no such file or folder")
        runs = dict([(place, (place,))] if place.is_file() else _runs_below(place))
        if not runs and place.is_dir() and (place / DESCRIPTION).exists():
            raise BadFileError(place, "the run has no files of events")
        if not runs:
            what = f"not an event log: neither {DESCRIPTION} nor {FILES}{' or '.join(SUFFIXES)}"
            raise BadFileError(place, what)
        found |= {folder.resolve(): files for folder, files in runs.items()}
    runs_found = [
        _run(number, folder, files, assumed) for number, (folder, files) in enumerate(found.items())
    ]
    if assumed != Assumed() and not any(run.described.is_assumed for run in runs_found):
        option, value = ("--policy", assumed.policy) if assumed.policy else ("--end", assumed.end)
        raise BadOptionError(option, value, f"no such option, since every run has a {DESCRIPTION}")
    return runs_found


def empty_runs(places: Sequence[Path]) -> list[Path]:
    """Return the folders of runs that have a description and no events."""
    folders = (folder for place in places if place.is_dir() for folder in _folders(place))
    return [
        folder
        for folder in folders
        if (folder / DESCRIPTION).exists() and not any(_event_files(folder.iterdir()))
    ]


def value_of_run(values: Sequence[object], kind: str) -> Column:
    """Return for each row the value of its run, from one value of this type for each run.

    The values go into the query itself: a join would be a stage more.
    """
    return F.get(F.array(*map(F.lit, values)).cast(f"array<{kind}>"), F.col("run"))


def _runs_below(folder: Path) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Yield the folders with a run in them, and its files."""
    for below in _folders(folder):
        files = tuple(sorted(_event_files(below.iterdir())))
        if files:
            yield below, files


def _folders(folder: Path) -> Iterator[Path]:
    """Yield a folder, and those below it."""
    yield folder
    for below in sorted(folder.iterdir()):
        if below.is_dir() and not below.is_symlink() and not below.name.startswith("."):
            yield from _folders(below)


def _event_files(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in paths if path.match(FILES) and path.suffix in SUFFIXES)


def _run(number: int, folder: Path, files: tuple[Path, ...], assumed: Assumed) -> Run:
    suffixes = {path.suffix for path in files}
    if len(suffixes) > 1:
        raise BadFileError(folder, "has events as both CSV and Parquet; keep one of them")
    if not suffixes <= set(SUFFIXES):
        raise BadFileError(folder, f"not a file of events: expected {' or '.join(SUFFIXES)}")
    path = folder / DESCRIPTION
    if folder.is_dir() and path.exists():
        return Run(number, folder, files, read_description(path))
    name = assumed.policy or folder.stem
    described = Description(name=name, policy=name, end=assumed.end)
    return Run(number, folder, files, replace(described, is_assumed=True))
