"""Data on the standard output, messages on the error output; colours in terminals only.

Everything written is flushed at once: who reads a pipe wants what there is, and a reader that has
gone is noticed while it can still be handled.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

WIDE_ENOUGH = 10_000
"""Columns of what is no terminal: nothing there is cut off or wrapped."""


def write_line(line: str) -> None:
    """Write a line of data."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Write a value as JSON for programs, and so that people can read it."""
    write_line(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def write_json_lines(values: Iterable[object]) -> None:
    """Write each value as JSON on a line of its own."""
    lines = [msgspec.json.encode(value).decode() for value in values]
    if lines:
        write_line("\n".join(lines))


def write_table(table: Table) -> None:
    """Write a table, in lines as long as they need to be if this is no terminal."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    plain = Console(width=WIDE_ENOUGH, color_system=None, highlight=False)
    with plain.capture() as captured:
        plain.print(table)
    for line in captured.get().splitlines():
        write_line(line.rstrip())


def table_with(*columns: str, right: Iterable[str] = ()) -> Table:
    """Return an empty table; the columns named in `right` are aligned there, as numbers are."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in set(right) else "left", no_wrap=True)
    return table


def add_row(table: Table, *cells: str) -> None:
    """Add a row of cells that mean what they say, brackets and all."""
    table.add_row(*(Text(cell) for cell in cells))


def say(message: str) -> None:
    """Write a message."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def progress(*columns: ProgressColumn) -> Progress:
    """Return progress bars on the error output, shown in terminals only."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,  # it would send data that is piped away to the terminal
        disable=not console.is_terminal,
    )
