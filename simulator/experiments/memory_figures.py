"""Figures 16 and 17: how much space memories hold, over the skew (16) and over the load (17).

The report (section 7.3): an effective usage (a) of 1 means that on-demand paging introduces no
dirty locations, whatever the distribution and the load. Naive memory keeps the locations of all
keys, also of keys that update slowly. So the more skew, the less of its space is of use; and its
effective usage is low at small loads, and improves as the time between two dequeues increases. The
usage (b): naive memory keeps the locations of all keys blocked, while on-demand paging releases
what was freed. With skew fewer keys wait on average; with load more keys update between two
dequeues.

The report's runs have 100 keys and Zipf theta 0 to 0.9; 20 to 1000 tuples per second arrive and 10
are processed, so the load is 2 to 100; each run lasts until there are 1000 results. It measures the
*average usage*, the space held, and the *average effective usage*, the share of it that is not
dirty. All four figures show columns of the same runs, so a process measures each run once.

The report averages over runs and says no more about them. Here the runs of Figure 16 differ in
their loads, and those of Figure 17 in their distributions. Lines are means, and bands are from the
least to the most. There is a panel by tuples, as in the report, and one for each page size.
On-demand paging has its 1 by tuple only: counted in whole pages, the page size decides, and with 64
tuples a page skew lowers it too. What on-demand paging saves by whole pages depends on their size:
if pages hold most of the keys, there is little to release. With 64 tuples a page the saving hardly
grows with skew, and at the highest loads next to nothing is saved with any size.

In the tables `x` is the column on the x-axis, theta or the load; means are over the other one.

The report does not say the following. The list has the choices, and what depends on them:

* *Which loads are averaged* in Figure 16: 2, 5, 10, 20, 50 and 100, once each. The highest three
  are nearly alike, so more of those would hide more of the skew; least and most are drawn, too.
* *The page size, and the tuple's.* Usage is counted in tuples, so that the tuple's size does not
  matter. The report's 1 must refer to locations, because a page in use may have room left. So usage
  is also counted in whole pages, of 4, 16 and 64 tuples (4 KiB if a tuple has 64 bytes).
* *Whether naive memory has all its room from the start*, to which the report compares it. Here a
  key has no room before its first update. Room for all keys from the start is shown as
  `preallocated`. It is computed and needs no run, because the same updates wait.
* *How tuples are spaced*: evenly, with the key of each drawn by its share. Memoryless arrivals
  change the usage by less than 3 of 100 tuples, which the tests check. *The scheduler*: IN-PLACE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from upstream import (
    InPlaceScheduler,
    Memory,
    MemoryUsage,
    NaiveMemory,
    OnDemandMemory,
    PagePool,
    UpdateQueue,
    ValueNotEncodableError,
)

from ..model.simulation import Simulation
from ..workloads.sources import FixedInterval, Poisson
from ..workloads.workload import zipf
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, grid, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS: Final = 100
THETAS: Final = (0.0, 0.3, 0.6, 0.9)
LOADS: Final = (2, 5, 10, 20, 50, 100)
QUICK_LOADS: Final = (2, 5, 20)
TUPLES_PER_PAGE: Final = (4, 16, 64)
TUPLE_BYTES: Final = 64
NUMBER_BYTES: Final = 8
LARGEST_NUMBER: Final = 2 ** (8 * NUMBER_BYTES) - 1

MEMORIES: Final[dict[str, Callable[[PagePool], Memory]]] = {
    "on-demand": OnDemandMemory,
    "naive": NaiveMemory,
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One of the two measures: its columns, by tuples and by whole pages, and its name."""

    column: str
    page_column: str
    label: str


EFFECTIVE_USAGE: Final = Metric(
    "effective_usage", "effective_page_usage", "average effective usage"
)
USAGE: Final = Metric("usage", "page_usage", "average usage, in tuples")


class NumberCodec:
    r"""Store integers from 0 to 2^64 - 1 in 8 bytes each.

    The library's codecs for numbers need an extra, which the simulator does without.

    >>> codec = NumberCodec()
    >>> codec.encode(258)
    b'\x02\x01\x00\x00\x00\x00\x00\x00'
    >>> codec.decode(codec.encode(258))
    258
    """

    __slots__ = ()

    def encode(self, value: object) -> bytes:
        """Return `value`, which must be such an integer and no boolean, as bytes."""
        if type(value) is not int or not 0 <= value <= LARGEST_NUMBER:
            raise ValueNotEncodableError(value, f"it is no integer from 0 to {LARGEST_NUMBER}")
        return value.to_bytes(NUMBER_BYTES, "little")

    def decode(self, data: bytes) -> int:
        """Return the integer that `data` was encoded from."""
        return int.from_bytes(data, "little")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRun:
    """One queue, which keeps its values in one memory."""

    memory: str
    theta: float
    load: float
    tuples_per_page: int
    results: int
    """The number of results that the run has time for."""
    seed: int = 1
    is_memoryless: bool = False

    def measure(self) -> MemoryUsage:
        """Run it and return the usage of its memory.

        >>> run = MemoryRun(memory="naive", theta=0.0, load=2, tuples_per_page=16, results=1_000)
        >>> run.measure().locations_held
        100
        """
        source = Poisson if self.is_memoryless else FixedInterval
        simulation = Simulation(source(zipf(KEYS, self.theta)), seed=self.seed, loop="plain")
        page_bytes = self.tuples_per_page * TUPLE_BYTES
        pool = PagePool(KEYS * page_bytes, page_bytes=page_bytes, location_bytes=TUPLE_BYTES)
        queue = UpdateQueue(
            InPlaceScheduler(),
            clock=simulation.clock,
            memory=MEMORIES[self.memory](pool),
            codec=NumberCodec(),
        )
        subscriber = simulation.add(self.memory, queue, cost=self.load)
        simulation.run(round(self.results * self.load))
        usage = simulation.measures(subscriber).memory
        assert usage is not None, "the values are in the memory"
        return usage


def points(scale: Scale) -> list[Point]:
    """Return every distribution, load and page size; fewer loads if quick."""
    loads = QUICK_LOADS if scale.is_quick else LOADS
    return grid(theta=THETAS, load=loads, tuples_per_page=TUPLES_PER_PAGE)


def measure(point: Point, scale: Scale, *, metric: Metric) -> Table:
    """Measure a setting: a row for each memory, with the columns of one metric."""
    tuples = int(point["tuples_per_page"])
    usage = {
        memory: _usage(
            MemoryRun(
                memory=memory,
                theta=float(point["theta"]),
                load=float(point["load"]),
                tuples_per_page=tuples,
                results=scale.choose(full=1_000, quick=500),
                seed=scale.seed,
            )
        )
        for memory in MEMORIES
    }
    waiting = usage["on-demand"].average_usage_locations
    measured = [_row(memory, found, waiting) for memory, found in usage.items()]
    measured.append(_preallocated(waiting, tuples))
    columns = ("memory", metric.column, metric.page_column)
    return [{**point, **{name: row[name] for name in columns}} for row in measured]


@cache
def _usage(run: MemoryRun) -> MemoryUsage:
    return run.measure()


def _row(memory: str, usage: MemoryUsage, waiting: float) -> Row:
    """Return the measures of a memory, in tuples; `waiting` tuples waited on average."""
    pages = usage.average_page_usage_bytes / TUPLE_BYTES
    return {
        "memory": memory,
        "usage": usage.average_usage_locations,
        "page_usage": pages,
        "effective_usage": usage.average_effective_usage,
        "effective_page_usage": waiting / pages,
    }


def _preallocated(waiting: float, tuples: int) -> Row:
    pages = -(-KEYS // tuples) * tuples
    return {
        "memory": "preallocated",
        "usage": float(KEYS),
        "page_usage": float(pages),
        "effective_usage": waiting / KEYS,
        "effective_page_usage": waiting / pages,
    }


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
