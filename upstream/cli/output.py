"""Data goes to the standard output, messages to the error output; only terminals get colours.

Everything is flushed at once, so that the reader of a pipe gets it without delay, and a closed pipe
is noticed while it can still be handled.
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
"""The width of tables that are written once, in characters; nothing is cut off or wrapped."""
GAP = 2
"""Spaces between the columns of a table."""
LEAST_WIDTH = 8
"""The least number of characters of a value that are shown."""


def write_line(line: str) -> None:
    """Write a line of data."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Write a value as indented JSON."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    write_line("\n".join(map(printable, text.split("\n"))))


def write_json_lines(values: Iterable[object]) -> None:
    """Write each value as JSON on a line of its own."""
    lines = [printable(msgspec.json.encode(value).decode()) for value in values]
    if lines:
        write_line("\n".join(lines))


def write_table(table: Table) -> None:
    """Write a whole table, in lines as long as necessary."""
    wide = console(width=WIDE_ENOUGH)
    with wide.capture() as captured:
        wide.print(table)
    for line in captured.get().splitlines():
        write_line(line.rstrip())


def is_terminal() -> bool:
    """Whether the standard output is a terminal, whatever the settings for colours."""
    return sys.stdout.isatty()


def console(*, width: int | None = None) -> Console:
    """Return a console on the standard output."""
    return Console(
        width=width,
        force_terminal=is_terminal(),
        color_system="auto" if is_terminal() else None,
        highlight=False,
    )


def fit(table: Table, width: int, *, elastic: int | None = None) -> Table:
    """Make a table no wider than `width`.

    First the column with the index `elastic` is shortened. Then whole columns are removed from the
    right, because a part of a number says nothing.
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
    """Return an empty table; the columns named in `right` are right-aligned, for numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in set(right) else "left", no_wrap=True)
    return table


def add_row(table: Table, *cells: str) -> None:
    """Add a row; brackets in cells are not markup."""
    table.add_row(*(Text(cell) for cell in cells))


def say(message: str) -> None:
    """Write a message, without the control characters that a service may have sent."""
    sys.stderr.write("\n".join(map(printable, message.split("\n"))) + "\n")
    sys.stderr.flush()


def report(value: object, message: str, *, is_json: bool) -> None:
    """Write the result of a command as JSON, or say in a message what was done."""
    if is_json:
        write_json(value)
    else:
        say(message)


def progress(*columns: ProgressColumn) -> Progress:
    """Return progress bars on the error output, which only terminals show."""
    is_shown = sys.stderr.isatty()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True, force_terminal=is_shown),
        transient=True,
        redirect_stdout=False,  # or piped data would go to the terminal
        disable=not is_shown,
    )
