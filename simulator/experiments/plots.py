"""Plots of experiments: one figure each, drawn without a screen, written as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from .experiment import Experiment, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
