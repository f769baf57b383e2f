"""Data on the standard output, messages on the error output; colours in terminals only.

Everything written is flushed at once: who reads a pipe wants what there is, and a reader that has
gone is noticed while it can still be handled.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from .formatting import printable

WIDE_ENOUGH = 100_000
"""Columns of tables that are written once: nothing there is cut off or wrapped."""
GAP = 2
"""Columns between the columns of a table."""
LEAST_WIDTH = 8
"""How many characters of a value are shown at least."""


def write_line(line: str) -> None:
    """Write a line of data."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Write a value as JSON for programs, and so that people can read it."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    write_line("\n".join(map(printable, text.split("\n"))))


def write_json_lines(values: Iterable[object]) -> None:
    """Write each value as JSON on a line of its own."""
    lines = [printable(msgspec.json.encode(value).decode()) for value in values]
    if lines:
        write_line("\n".join(lines))


def write_table(table: Table) -> None:
    """Write a table, in lines as long as they need to be: nothing of it is left out."""
    wide = console(width=WIDE_ENOUGH)
    with wide.capture() as captured:
        wide.print(table)
    for line in captured.get().splitlines():
        write_line(line.rstrip())


def is_terminal() -> bool:
    """Whether the standard output is a terminal, whatever colours somebody asks for."""
    return sys.stdout.isatty()


def console(*, width: int | None = None) -> Console:
    """Return a console on the standard output."""
    is_plain = not is_terminal()
    return Console(
        width=width,
        force_terminal=not is_plain,
        color_system=None if is_plain else "auto",
        highlight=False,
    )


def fit(table: Table, width: int, *, elastic: int | None = None) -> Table:
    """Make a table that is redrawn in its place no wider than the terminal.

    The column with the index `elastic` is cut short first. Then whole columns are left out, from
    the right, since a part of a number says nothing.
    """
    widths = [_width_of(column) for column in table.columns]
    if elastic is not None:
        others = sum(widths) - widths[elastic] + GAP * (len(widths) - 1)
        widths[elastic] = min(widths[elastic], max(LEAST_WIDTH, width - others))
        table.columns[elastic].max_width = widths[elastic]
        table.columns[elastic].overflow = "ellipsis"
    while len(widths) > 1 and sum(widths) + GAP * (len(widths) - 1) > width:
        widths.pop()
        table.columns.pop()
    return table


def _width_of(column: Column) -> int:
    cells = (cell.plain for cell in column.cells if isinstance(cell, Text))
    return max(map(cell_len, (str(column.header), *cells)))


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
    """Write a message, which may quote what the service says."""
    sys.stderr.write("\n".join(map(printable, message.split("\n"))) + "\n")
    sys.stderr.flush()


def progress(*columns: ProgressColumn) -> Progress:
    """Return progress bars on the error output, shown in terminals only."""
    is_shown = sys.stderr.isatty()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True, force_terminal=is_shown),
        transient=True,
        redirect_stdout=False,  # it would send data that is piped away to the terminal
        disable=not is_shown,
    )
