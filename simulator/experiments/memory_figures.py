"""Figures 16 and 17: how much space memories hold, over the skew (16) and over the load (17).

The report (section 7.3): an effective usage (a) of 1 means that on-demand paging introduces no
dirty locations, whatever the distribution and the load. Naive memory keeps the locations of all
keys, also of keys that update slowly. So the more skew, the less of its space is of use; and its
effective usage is low at small loads, and improves as the time between two dequeues increases. The
usage (b): naive memory keeps the locations of all keys blocked, while on-demand paging releases
what was freed. With skew fewer keys wait on average; with load more keys update between two
dequeues.

The report averages over runs and says no more about them. Here the runs of Figure 16 differ in
their loads, and those of Figure 17 in their distributions. Lines are means, and bands are from the
least to the most. `memory_runs` says what else was chosen. There is a panel by tuples, as in the
report, and one for each page size. On-demand paging has its 1 by tuple only: counted in whole
pages, the page size decides, and with 64 tuples a page skew lowers it too. What on-demand paging
saves by whole pages depends on their size: if pages hold most of the keys, there is little to
release. With 64 tuples a page the saving hardly grows with skew, and at the highest loads next to
nothing is saved with any size.

In the tables `x` is the column on the x-axis, theta or the load; means are over the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from .experiment import Experiment, Row, Table, Verdict, column, where
from .memory_runs import EFFECTIVE_USAGE, USAGE, Metric, measure, points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Means = Mapping[float, float]
"""A mean for each theta, or for each load, in ascending order."""
LABELS: Final = {"on-demand": "on-demand paging", "naive": "naive"}
MARKERS: Final = {"on-demand": "o", "naive": "s"}


def page_sizes(table: Table) -> list[int]:
    """Return the page sizes of a table, in tuples, the smallest first."""
    return sorted({int(size) for size in column(table, "tuples_per_page")})


def pages_of(table: Table, tuples: int) -> list[Row]:
    """Return the rows of one page size."""
    return where(table, tuples_per_page=tuples)


def mean_by(table: Table, x: str, y: str, *, memory: str) -> Means:
    """Return the means of a column.

    >>> rows = [{"load": 2, "memory": "naive", "usage": usage} for usage in (90.0, 100.0)]
    >>> mean_by(rows, "load", "usage", memory="naive")
    {2.0: 95.0}
    """
    rows = where(table, memory=memory)
    found = {}
    for value in sorted(set(column(rows, x))):
        cells = column(where(rows, **{x: value}), y)
        found[value] = sum(cells) / len(cells)
    return found


def saving(table: Table, x: str, y: str) -> Means:
    """Return by what share on-demand paging holds less than naive memory."""
    on_demand = mean_by(table, x, y, memory="on-demand")
    naive = mean_by(table, x, y, memory="naive")
    return {value: 1.0 - on_demand[value] / naive[value] for value in naive}


def rises(means: Means) -> bool:
    """Return whether each mean is above the one before.

    >>> rises({0.0: 1.0, 0.3: 2.0}), rises({0.0: 1.0, 0.3: 1.0})
    (True, False)
    """
    return all(before < after for before, after in pairwise(means.values()))


def falls(means: Means) -> bool:
    """Return whether each mean is below the one before."""
    return all(before > after for before, after in pairwise(means.values()))


def by_page(table: Table, measured: Callable[[Table], Means], form: str) -> str:
    """Say in which range means are, for each page size."""
    ranges = []
    for tuples in page_sizes(table):
        means = measured(pages_of(table, tuples)).values()
        low, high = f"{min(means):{form}}", f"{max(means):{form}}"
        found = low if low == high else f"{low} to {high}"
        ranges.append(f"{found} with {tuples} tuples a page")
    return ", ".join(ranges)


@dataclass(frozen=True, slots=True)
class Axis:
    """An x-axis: its column, its label, and the expectation along it."""

    column: str
    label: str
    quantity: str
    """The quantity that grows along the axis."""
    each: str
    """The name of one value of the axis."""
    verb: str
    """The expected movement of the means, as an infinitive."""
    is_so: Callable[[Means], bool]
    """Checks the expectation."""

    def says(self, means: Means) -> str:
        """Say what the means do along the axis."""
        return f"{self.verb}s" if self.is_so(means) else f"does not always {self.verb}"


SKEW: Final = Axis("theta", "Zipf theta", "skew", "distribution", "fall", falls)
LOAD: Final = Axis("load", "load factor", "load", "load", "rise", rises)


def judge_effective_usage(table: Table, axis: Axis) -> Verdict:
    """Say whether on-demand paging has 1 everywhere, and what naive memory does along the axis."""
    on_demand = column(where(table, memory="on-demand"), "effective_usage")
    naive = mean_by(table, axis.column, "effective_usage", memory="naive")
    is_clean = min(on_demand) > 1.0 - 1e-9
    low, high = min(naive), max(naive)

    def by_whole_pages(rows: Table) -> Means:
        return mean_by(rows, axis.column, "effective_page_usage", memory="on-demand")

    return Verdict(
        f"The effective usage of on-demand paging is {'' if is_clean else 'not '}1 for every "
        f"{axis.each}; that of naive memory {axis.says(naive)} with the {axis.quantity}, from "
        f"{naive[low]:.2f} at {axis.column} {low:g} to {naive[high]:.2f} at {high:g}. Counted in "
        f"whole pages, on-demand paging has {by_page(table, by_whole_pages, '.2f')}.",
        is_clean and axis.is_so(naive),
    )


def judge_usage(table: Table, axis: Axis) -> Verdict:
    """Say how much less on-demand paging holds, and what that does along the axis."""
    on_demand = mean_by(table, axis.column, "usage", memory="on-demand")
    naive = mean_by(table, axis.column, "usage", memory="naive")
    saved = saving(table, axis.column, "usage")
    is_less = min(saved.values()) > 0.0
    found = [
        f"{on_demand[value]:.1f} tuples instead of {naive[value]:.1f} at {axis.column} {value:g} "
        f"({saved[value]:.0%} less)"
        for value in (min(saved), max(saved))
    ]

    def saved_in_whole_pages(rows: Table) -> Means:
        return saving(rows, axis.column, "page_usage")

    return Verdict(
        f"On-demand paging holds {'' if is_less else 'not always '}less than naive memory, and "
        f"its usage {axis.says(on_demand)} with the {axis.quantity}: {' and '.join(found)}. "
        f"Counted in whole pages it saves {by_page(table, saved_in_whole_pages, '.0%')}.",
        is_less and axis.is_so(on_demand),
    )


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


def _figure(
    name: str,
    metric: Metric,
    axis: Axis,
    judge: Callable[[Table, Axis], Verdict],
    *,
    title: str,
    claim: str,
) -> Experiment:
    return Experiment(
        name=name,
        title=title,
        claim=claim,
        points=points,
        measure=partial(measure, metric=metric),
        draw=partial(draw_panels, axis=axis, metric=metric),
        verdict=lambda table: judge(table, axis),
    )


_USES_ALL: Final = "On-demand paging uses all of the space that it has allocated, "
_KEEPS_ALL: Final = (
    "The naive approach keeps the locations of all keys blocked; on-demand paging holds less, "
)
FIGURES: Final = (
    _figure(
        "16a",
        EFFECTIVE_USAGE,
        SKEW,
        judge_effective_usage,
        title="Effective memory usage over the skew",
        claim=f"{_USES_ALL}for every distribution; the naive approach uses less of it, the more "
        "the update rates are skewed.",
    ),
    _figure(
        "16b",
        USAGE,
        SKEW,
        judge_usage,
        title="Memory usage over the skew",
        claim=f"{_KEEPS_ALL}the more so the more the update rates are skewed.",
    ),
    _figure(
        "17a",
        EFFECTIVE_USAGE,
        LOAD,
        judge_effective_usage,
        title="Effective memory usage over the load",
        claim=f"{_USES_ALL}at every load; the naive approach uses little of it at small loads, "
        "and more as the load increases.",
    ),
    _figure(
        "17b",
        USAGE,
        LOAD,
        judge_usage,
        title="Memory usage over the load",
        claim=f"{_KEEPS_ALL}most of all at small loads.",
    ),
)
