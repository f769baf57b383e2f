"""What an experiment is: points to measure, the rows that they give, a plot, and a verdict.

Points are measured independently of one another, in any process and any order. The rows of all
points, in the order of the points, are the table that is written, drawn and judged. Tables are CSV
files in which numbers are written in full, so that nothing is lost by reading them. A plot is drawn
without a screen and written as PNG.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Cell = str | int | float
Row = Mapping[str, Cell]
"""A row of the table; all rows of an experiment have the same columns."""
Table = Sequence[Row]
Point = Mapping[str, Cell]
"""A point to measure: the parameters that differ from point to point."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured, and from which seed."""

    seed: int = 1
    is_quick: bool = False
    """Fewer updates and fewer points: for a look, and for tests."""

    def choose(self, *, full: int, quick: int) -> int:
        """Return one number or the other."""
        return quick if self.is_quick else full


@dataclass(frozen=True, slots=True)
class Verdict:
    """The measurement in a sentence, compared with the claim."""

    sentence: str
    held: bool | None
    """Whether the claim held; None if there was no claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One figure of the report, or a question of our own."""

    name: str
    """The figure's number, or a word."""
    title: str
    claim: str
    """The report's claim about it, or the question that it answers."""
    points: Callable[[Scale], Sequence[Point]]
    measure: Callable[[Point, Scale], Table]
    draw: Callable[[Table, Figure], None]
    verdict: Callable[[Table], Verdict]

    @property
    def is_figure(self) -> bool:
        """Whether it is a figure of the report."""
        return self.name[0].isdigit()

    @property
    def file_name(self) -> str:
        """What its files are called, without the ending."""
        return f"figure_{self.name}" if self.is_figure else self.name.replace("-", "_")

    def table(self, scale: Scale) -> list[Row]:
        """Measure all points here and now."""
        return [row for point in self.points(scale) for row in self.measure(point, scale)]


def grid(**parameters: Iterable[Cell]) -> list[Point]:
    """Return a point for each combination of the parameters' values.

    >>> grid(load=(2, 5), ratio=(10,))
    [{'load': 2, 'ratio': 10}, {'load': 5, 'ratio': 10}]
    """
    return [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]


def number(row: Row, column: str) -> float:
    """Return a cell that is a number."""
    cell = row[column]
    assert not isinstance(cell, str), f"{column} is no number"
    return float(cell)


def where(table: Table, **cells: Cell) -> list[Row]:
    """Return the rows that have these cells.

    >>> where([{"x": 1, "y": 2.0}, {"x": 2, "y": 3.0}], x=2)
    [{'x': 2, 'y': 3.0}]
    """
    return [row for row in table if all(row[name] == cell for name, cell in cells.items())]


def column(table: Table, name: str) -> list[float]:
    """Return a column of numbers."""
    return [number(row, name) for row in table]


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


DOTS_PER_INCH: Final = 144


def plot(experiment: Experiment, table: Table) -> Figure:
    """Return the plot of a table; a notebook with `%matplotlib inline` shows it."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    experiment.draw(table, figure)
    heading = f"Figure {experiment.name}" if experiment.is_figure else experiment.name
    figure.suptitle(f"{heading}: {experiment.title}")
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a plot as PNG."""
    figure.savefig(path, format="png", dpi=DOTS_PER_INCH)
