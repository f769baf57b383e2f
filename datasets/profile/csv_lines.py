"""The lines of a CSV file, plain or compressed: its header, and where something is in it."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import BadFileError
from ..spark.failure import gzip_fault


def csv_header(file: Path) -> list[str]:
    """Return the names of the columns; BadFileError for a file that is no CSV in UTF-8."""
    with _lines(file) as lines:
        line = lines.readline()
    _check_encoding(file, line, 1)
    try:
        return next(csv.reader([line.decode("utf-8-sig")]), [])
    except csv.Error as error:
        raise BadFileError(file, f"it cannot be read as CSV: {error}", line=1) from error


def line_with(file: Path, column: str, text: str | None) -> int | None:
    """Return the first line that has this text, or nothing, in a column; None if none has.

    BadFileError if the file is broken before it, or has bytes before it that are no UTF-8.
    """
    place = csv_header(file).index(column)
    wanted = (text or "").strip()
    with _lines(file) as lines:
        for number, line in enumerate(lines, 1):
            _check_encoding(file, line, number)
            if number == 1 or not line.strip():
                continue
            try:
                row = next(csv.reader([line.decode()]), [])
            except csv.Error as error:
                raise BadFileError(file, f"not valid CSV: {error}", line=number) from error
            if (row[place].strip() if place < len(row) else "") == wanted:
                return number
    return None


def encoding_fault(file: Path) -> BadFileError | None:
    """Return the first line that is not UTF-8, None if all are."""
    with _lines(file) as lines:
        try:
            for number, line in enumerate(lines, 1):
                _check_encoding(file, line, number)
        except BadFileError as fault:
            return fault
    return None


def _check_encoding(file: Path, line: bytes, number: int) -> None:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        what = f"the byte 0x{line[error.start]:02x} is not UTF-8"
        reason = f"{what}; convert the file, for example with `iconv -f latin1 -t utf-8`"
        raise BadFileError(file, reason, line=number) from error


@contextmanager
def _lines(file: Path) -> Iterator[IO[bytes]]:
    """Open a file for its lines; BadFileError where the compressed data is broken."""
    try:
        if file.suffix.lower() == ".gz":
            with gzip.open(file) as lines:
                yield lines  # type: ignore[misc]  # it has what is used here
        else:
            with file.open("rb") as plain:
                yield plain
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        fault = gzip_fault(file) or BadFileError(file, f"it cannot be read as gzip: {error}")
        raise fault from error
