"""Where the first fault of a log is: its rows one by one, as a person would look for it.

This runs only where it is known that there is one, and so may take its time.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow.parquet as pq

from ..errors import BadFileError
from .event_files import COLUMNS, KINDS, csv_header
from .runs import Run

Cells = Mapping[str, object]


def first_fault(run: Run) -> BadFileError:
    """Return the error that names the first row that is wrong."""
    event, time = -1, -math.inf
    for path in run.files:
        rows = _csv_rows(path) if path.suffix == ".csv" else _parquet_rows(path)
        for row, cells in enumerate(rows, start=1):
            reason = _reason(cells, event=event, time=time)
            if reason is not None:
                return fault_at(path, row, reason)
            event, time = int(str(cells["event"])), float(str(cells["time"]))
    return BadFileError(run.folder, "its rows are not numbered one after the other")


def fault_at(path: Path, row: int, reason: str) -> BadFileError:
    """Return the error for a row, counted from 1 without a header."""
    if path.suffix == ".csv":
        return BadFileError(path, reason, line=row + 1)
    return BadFileError(path, f"row {row}: {reason}")


def place_of_event(run: Run, event: int) -> tuple[Path, int, Cells]:
    """Return in which file, as which of its rows, and with which cells an event is."""
    for path in run.files:
        rows = _csv_rows(path) if path.suffix == ".csv" else _parquet_rows(path)
        for row, cells in enumerate(rows, start=1):
            if int(str(cells["event"])) == event:
                return path, row, cells
    raise AssertionError(f"no event {event} in {run.folder}")


def _reason(cells: Cells, *, event: int, time: float) -> str | None:
    """Return what is wrong with a row after the one with this event and time; None if nothing."""
    for name in ("event", "number"):
        if not _is_integer(cells[name]):
            return f"the {name} is not an integer: {_shown(cells[name])}"
    if not _is_finite(cells["time"]):
        return f"the time is not a finite number: {_shown(cells['time'])}"
    if cells["kind"] not in KINDS:
        return f"unknown kind {_shown(cells['kind'])}; kinds are {', '.join(KINDS)}"
    if cells["key"] is None or cells["key"] == "":
        return "there is no key"
    found = int(str(cells["event"]))
    if found != event + 1:
        missing = "this is only part of a log" if event < 0 else "rows are missing, or out of order"
        return f"found event {found} instead of {event + 1}: {missing}"
    if float(str(cells["time"])) < time:
        return f"the time {cells['time']} is before that of the row before it, {time!r}"
    return None


def _is_integer(cell: object) -> bool:
    try:
        return abs(int(str(cell))) < 1 << 63
    except ValueError:
        return False


def _is_finite(cell: object) -> bool:
    try:
        return math.isfinite(float(str(cell)))
    except ValueError:
        return False


def _shown(cell: object) -> str:
    return "missing" if cell is None or cell == "" else repr(cell)[:60]


def _csv_rows(path: Path) -> Iterator[Cells]:
    names = csv_header(path)
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = csv.reader(file)
        next(rows, None)
        for row in rows:
            given = dict(zip(names, row, strict=False))
            yield {name: given.get(name) for name in COLUMNS}


def _parquet_rows(path: Path) -> Iterator[Cells]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=list(COLUMNS)):
            yield from batch.to_pylist()
