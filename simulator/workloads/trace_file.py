"""Recorded streams: the files of a trace, their order, and the rows to replay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from upstream import Key
from upstream.extras import missing_extra

from ..errors import OptionError, TraceError
from .trace_columns import ROW_ABOVE, TraceColumns
from .trace_formats import TraceRows, rows_of
from .trace_times import BadRowError, TimeKind

SECONDS_PER_UNIT: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""The units that numbers in a column of times may have."""
LATEST_SECONDS: Final = 1e11
"""The year 5138. Milliseconds since 1970 are beyond."""


@dataclass(frozen=True, slots=True, eq=False)
class TraceFile:
    """A recorded stream: when each update arrived, and for which key.

    >>> trace = TraceFile("two trades", np.array([0.0, 1.5]), np.array([0, 0]), ("IBM",))
    >>> [trace.keys[code] for code in trace.codes]
    ['IBM', 'IBM']
    """

    name: str
    times: NDArray[np.float64]
    """In seconds, ascending; rows of the same time are in the order of the file."""
    codes: NDArray[np.int64]
    """For each row, the index of its key in `keys`."""
    keys: tuple[Key, ...]
    """In order of first appearance."""

    def first(self, rows: int) -> TraceFile:
        """Return the first rows; OptionError if there are too few, or no time passes in them."""
        if not 2 <= rows <= len(self.times) or self.times[0] == self.times[rows - 1]:
            expected = f"from 2 to {len(self.times):,} updates, in which time passes"
            raise OptionError("--updates", rows, expected)
        return TraceFile(self.name, self.times[:rows], self.codes[:rows], self.keys)


def read_trace(path: Path, *, time: str = "time", unit: str = "s", key: str = "key") -> TraceFile:
    """Read a recorded stream from a file, or from a folder of files in the order of their names.

    `time` and `key` name the columns. Times are timestamps, times of day, or numbers, which count
    seconds unless `unit` says otherwise. TraceError names the file and the row that is wrong.
    """
    if unit not in SECONDS_PER_UNIT:
        raise OptionError("--time-unit", unit, " or ".join(SECONDS_PER_UNIT))
    files = [rows_of(file, time=time, key=key) for file in _files(path)]
    _check_pyarrow(path)
    columns = TraceColumns()
    above = ROW_ABOVE
    for file in files:
        if _add(file, columns, above):
            above = f"the last one of {file.path.name} (files are read in the order of their names)"
    trace = _trace(path, columns)
    if columns.kind is TimeKind.NUMBERS:
        return _in_seconds(path, trace, unit)
    if unit != "s":
        assert columns.kind is not None
        expected = f"no --time-unit, because the times are {columns.kind.value}"
        raise OptionError("--time-unit", unit, expected)
    return trace


def _in_seconds(path: Path, trace: TraceFile, unit: str) -> TraceFile:
    """Return a trace whose times count seconds; TraceError if they cannot."""
    if unit != "s":
        scaled = trace.times * SECONDS_PER_UNIT[unit]
        scaled.flags.writeable = False
        return TraceFile(trace.name, scaled, trace.codes, trace.keys)
    if trace.times[-1] > LATEST_SECONDS:
        reason = "times as large as this cannot be seconds; give their unit by --time-unit"
        raise TraceError(path, reason, row=len(trace.times))
    return trace


def _add(file: TraceRows, columns: TraceColumns, above: str) -> bool:
    """Add the rows of a file, and return whether there are any."""
    row = 0
    with closing(file.batches()) as batches:
        for times, keys in batches:
            try:
                columns.add(times, keys, above=ROW_ABOVE if row else above)
            except BadRowError as error:
                raise file.error(error.reason, row + error.row + 1) from None
            row += len(times)
    return row > 0


def _trace(path: Path, columns: TraceColumns) -> TraceFile:
    """Return the trace, if there are enough rows to replay."""
    times, codes = columns.times(), columns.codes()
    if len(times) == 0:
        raise TraceError(path, "there are no rows")
    if len(times) == 1:
        raise TraceError(path, "there is only one row, so there is no rate")
    if times[0] == times[-1]:
        raise TraceError(path, "all rows have the same time, so there is no rate")
    for column in (times, codes):
        column.flags.writeable = False
    return TraceFile(path.absolute().name, times, codes, columns.keys())


def _files(path: Path) -> list[Path]:
    """Return the files of a trace; TraceError if there are no files."""
    try:
        if not path.exists():
            raise TraceError(path, "there is no such file")
        found = list(_files_below(path)) if path.is_dir() else [path]
    except OSError as error:
        raise TraceError(path, error.strerror or str(error)) from error
    if not found:
        raise TraceError(path, "there are no files in this folder")
    for file in found:
        if not file.is_file():  # reading a named pipe might never end
            raise TraceError(file, "it is not a regular file; copy its content into one")
    return found


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and its folders; a leading dot or underscore means no data."""
    for path in sorted(folder.iterdir(), key=_by_name):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _files_below(path)
        else:
            yield path


def _by_name(path: Path) -> tuple[list[str | int], str]:
    """Return a sort key for names, with hour=9 before hour=10."""
    parts = re.split(r"([0-9]+)", path.name)  # every other part is a number
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], path.name


def _check_pyarrow(path: Path) -> None:
    try:
        import pyarrow as pa
    except ImportError as error:
        reason = missing_extra("reading a trace", "pyarrow", "simulator")
        raise TraceError(path, reason) from error
    assert pa
