"""How Figures 16 and 17 are drawn: a panel by tuples, as in the report, and one for each page size.

Lines are means, over loads or over distributions; bands are from the least to the most of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .experiment import Table, column, where
from .memory_runs import Metric
from .memory_tables import mean_by, page_sizes, pages_of
from .memory_verdicts import LOAD, Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS: Final = {"on-demand": "on-demand paging", "naive": "naive"}
MARKERS: Final = {"on-demand": "o", "naive": "s"}


def draw_panels(table: Table, figure: Figure, *, axis: Axis, metric: Metric) -> None:
    """Draw a metric over theta or over the load, in each way of counting."""
    sizes = page_sizes(table)
    counted = [("by tuple", sizes[0], metric.column)]
    counted += [(f"by page of {size} tuples", size, metric.page_column) for size in sizes]
    grid = figure.subplots((len(counted) + 1) // 2, 2, sharey=True, squeeze=False)
    for axes, (title, size, y) in zip(grid.flat, counted, strict=True):
        _draw_lines(pages_of(table, size), axes, x=axis.column, y=y)
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel(axis.label)
        _show_values(axes, sorted(set(column(table, axis.column))), is_log=axis is LOAD)
    for axes in grid[:, 0]:
        axes.set_ylabel(metric.label)
    grid[0, 0].set_ylim(bottom=0)  # once all is drawn, since the panels share it
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")


def _show_values(axes: Axes, values: list[float], *, is_log: bool) -> None:
    """Mark the x-axis where it was measured, and nowhere else."""
    if is_log:
        axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()


def _draw_lines(rows: Table, axes: Axes, *, x: str, y: str) -> None:
    for memory, label in LABELS.items():
        means = mean_by(rows, x, y, memory=memory)
        spread = [column(where(rows, memory=memory, **{x: value}), y) for value in means]
        axes.plot(list(means), list(means.values()), marker=MARKERS[memory], label=label)
        axes.fill_between(list(means), [*map(min, spread)], [*map(max, spread)], alpha=0.2)
    means = mean_by(rows, x, y, memory="preallocated")
    axes.plot(
        list(means),
        list(means.values()),
        color="grey",
        linestyle="--",
        linewidth=0.8,
        label="room for all keys from the start",
    )
