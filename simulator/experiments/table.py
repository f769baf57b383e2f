"""Tables of results as CSV files: numbers are written in full, so nothing is lost by reading."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from .experiment import Cell, Row, Table


def to_csv(table: Table) -> str:
    """Write a table; all rows have the columns of the first one.

    >>> print(to_csv([{"policy": "index", "load": 5, "staleness": 0.5}]), end="")
    policy,load,staleness
    index,5,0.5
    """
    assert table, "a table without rows"
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(dict(row) for row in table)
    return text.getvalue()


def from_csv(text: str) -> list[Row]:
    """Read a table that `to_csv` wrote."""
    return [
        {name: _cell(written) for name, written in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def read_csv(path: Path) -> list[Row]:
    """Read a table from a file."""
    return from_csv(path.read_text(encoding="utf-8"))


def _cell(written: str) -> Cell:
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written
