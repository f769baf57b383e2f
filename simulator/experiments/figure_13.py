"""Figure 13: application staleness over the window size, on windows of one key.

In the report (section 6.3.1) windows tumble (a) or overlap (b).

Figure 13a: the slide of windows is their size. LAZY processes a window when all of it has arrived,
so its staleness contains C_t times the size, and grows linearly. EAGER processes tuples as they
arrive, and is stale for C_t after the end of each window of any size. The average over longer and
longer windows decreases asymptotically. The report assumes C_t = 1.

The report does not say which sizes and arrivals it uses, or when exactly a window is closed. Here:
sizes from 1 to 50, a tuple at each tick, and windows closed by the tuple in the last tick, as in
Figure 12. Panels of their own show what depends on these choices:

- A consumer that does not keep up (C_t = 2) makes EAGER grow linearly, too.
- If the first tuple of the next window closes a window, EAGER has finished the window by then, and
  is never stale at C_t = 1; LAZY is as stale as before.

Figure 13b: windows slide by 1. Append windowing processes everything, or drops windows at
random. LAZY and EAGER outperform even the latter, "which would drop more or less the same amount of
windows as the update semantics would", but any windows, not the outdated ones. A tuple costs C_t in
each window that the operator has open. So append windowing also works on several windows at once,
and on more of them the longer they are.

The report does not say which share of windows is dropped, what C_t and the sizes are, or how long a
run is. Here LAZY runs first, and each window is dropped with the probability with which LAZY
dropped one; C_t = 1; sizes up to 50; a tuple at each tick, and windows closed by the tuple in the
last tick. Series and panels of their own show what depends on these choices:

- Append windowing is overloaded, and its staleness grows with the run, so two lengths are shown.
  With LAZY's share of shedding the load is 1 on average, so it also grows with the run, but less.
- Half as many windows are kept, for a load of a half, to avoid that growth. Then staleness does not
  grow with the run, and comes closer to that of LAZY.
- C_t = 0.5, where LAZY processes twice as many windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from upstream import RandomWindowShedding, WindowSpecification

from .experiment import Cell, Experiment, Point, Row, Scale, Table, Verdict, column, number, where
from .window_runs import BUFFERS, WindowRun, dropped_share, one_key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TUMBLING_SIZES: Final = (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50)
QUICK_SIZES: Final = (1, 2, 5, 10, 20)
REPORTED: Final[dict[str, Cell]] = {"cost": 1.0, "closed_by": "the last tick"}
PANELS: Final[tuple[dict[str, Cell], ...]] = (
    REPORTED,
    {"cost": 0.5, "closed_by": "the last tick"},
    {"cost": 2.0, "closed_by": "the last tick"},
    {"cost": 1.0, "closed_by": "the next tuple"},
)


def points_tumbling(scale: Scale) -> list[Point]:
    """Return every size, as reported, and with other costs and closers."""
    sizes = QUICK_SIZES if scale.is_quick else TUMBLING_SIZES
    return [{**panel, "size": size} for panel in PANELS for size in sizes]


def measure_tumbling(point: Point, scale: Scale) -> Table:
    """Run LAZY and EAGER for the same number of windows."""
    size = int(point["size"])
    tick = 1 if point["closed_by"] == "the last tick" else None
    run = WindowRun(
        workload=one_key(),
        specification=WindowSpecification(size=size, slide=size, tick=tick),
        cost=float(point["cost"]),
        updates=size * scale.choose(full=1000, quick=50),
        seed=scale.seed,
    )
    return [{**point, **{name: run.update(name).application.mean for name in BUFFERS}}]


def draw_tumbling(table: Table, figure: Figure) -> None:
    """Draw staleness over the window size, with EAGER alone below; a column for each choice."""
    figure.set_size_inches(12.0, 6.0)
    grid = figure.subplots(2, len(PANELS), sharex=True)
    for (upper, lower), panel in zip(grid.T, PANELS, strict=True):
        rows = where(table, **panel)
        sizes = column(rows, "size")
        upper.plot(sizes, column(rows, "lazy"), "o-", markersize=4, color="C0", label="LAZY")
        for axes in (upper, lower):
            axes.plot(sizes, column(rows, "eager"), "s-", markersize=4, color="C1", label="EAGER")
            axes.set_ylim(bottom=0.0)
            axes.legend()
        upper.set_title(f"C_t = {panel['cost']:g}, closed by {panel['closed_by']}", fontsize=9)
        lower.set_xlabel("window size")
    grid[0, 0].set_xlabel("window size")
    for axes in grid[:, 0]:
        axes.set_ylabel("application staleness")


def judge_tumbling(table: Table) -> Verdict:
    """Say whether LAZY is a line through the origin, and whether EAGER falls all the way."""
    rows = where(table, **REPORTED)
    first, last = rows[0], rows[-1]
    slopes = [number(row, "lazy") / number(row, "size") for row in rows]
    areas = [number(row, "eager") * number(row, "size") for row in rows]
    held = _is_level(slopes) and _is_level(areas) and areas[0] > 0
    slow = where(table, cost=2.0)
    slow_slopes = [number(row, "eager") / number(row, "size") for row in slow]
    return Verdict(
        f"At C_t = 1 LAZY's staleness is {_range(slopes)} times the window size, and EAGER's "
        f"{_range(areas)} divided by it: from {number(first, 'eager'):.2g} at size "
        f"{first['size']} to {number(last, 'eager'):.2g} at {last['size']}, where LAZY has "
        f"{number(last, 'lazy'):.3g}. At C_t = 2 EAGER does not decrease: it is "
        f"{_range(slow_slopes)} times the size.",
        held,
    )


def _is_level(values: list[float]) -> bool:
    return max(values) <= 1.05 * min(values)


def _range(values: list[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


OVERLAPPING_SIZES: Final = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50)
LENGTHS: Final = (2_000, 20_000)
QUICK_LENGTHS: Final = (300, 1_000)
REPORTED_COST: Final = 1.0
OTHER_COST: Final = 0.5
SERIES: Final = {
    "append": ("append", "^"),
    "shedding": ("append, random shedding as much as LAZY", "v"),
    "half_kept": ("append, random shedding, half as many kept", "x"),
    "lazy": ("LAZY", "o"),
    "eager": ("EAGER", "s"),
}
"""The columns, and how they are drawn."""


def points_overlapping(scale: Scale) -> list[Point]:
    """Return every size in runs of two lengths, and in the longer one with another cost."""
    sizes = QUICK_SIZES if scale.is_quick else OVERLAPPING_SIZES
    lengths = QUICK_LENGTHS if scale.is_quick else LENGTHS
    panels = [(REPORTED_COST, length) for length in lengths] + [(OTHER_COST, lengths[-1])]
    return [
        {"cost": cost, "ticks": length, "size": size} for cost, length in panels for size in sizes
    ]


def measure_overlapping(point: Point, scale: Scale) -> Table:
    """Run all ways of windowing on the same tuples, LAZY first."""
    run = WindowRun(
        workload=one_key(),
        specification=WindowSpecification(size=int(point["size"]), slide=1, tick=1),
        cost=float(point["cost"]),
        updates=int(point["ticks"]),
        seed=scale.seed,
    )
    lazy, eager = run.update("lazy"), run.update("eager")
    share = dropped_share(lazy)
    row: Row = {
        **point,
        "dropped_by_lazy": share,
        "dropped_by_eager": dropped_share(eager),
        "append": run.append().application.mean,
        "shedding": _shedding(run, share, scale),
        "half_kept": _shedding(run, (1.0 + share) / 2.0 if share else 0.0, scale),
        "lazy": lazy.application.mean,
        "eager": eager.application.mean,
    }
    return [row]


def _shedding(run: WindowRun, share: float, scale: Scale) -> float:
    """Return the application staleness if this share is shed, averaged over runs."""
    runs = scale.choose(full=5, quick=2)
    seeds = (scale.seed * runs + number for number in range(runs))
    sheddings = (RandomWindowShedding(share, seed) for seed in seeds)
    return sum(run.append(shedding).application.mean for shedding in sheddings) / runs


def draw_overlapping(table: Table, figure: Figure) -> None:
    """Draw staleness over the window size, the longest run at the reported cost first."""
    figure.set_size_inches(11.0, 4.8)
    panels = sorted({(-number(row, "cost"), -number(row, "ticks")) for row in table})
    row_of_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (cost, ticks) in zip(row_of_axes, panels, strict=True):
        rows = where(table, cost=-cost, ticks=-ticks)
        for name, (label, marker) in SERIES.items():
            axes.plot(
                column(rows, "size"), column(rows, name), marker=marker, markersize=4, label=label
            )
        axes.set_yscale("log")
        axes.set_title(f"C_t = {-cost:g}, {-ticks:,.0f} ticks", fontsize="medium")
        axes.set_xlabel("window size")
    row_of_axes[0].set_ylabel("application staleness")
    handles, labels = row_of_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")


def judge_overlapping(table: Table) -> Verdict:
    """Compare the ways of windowing wherever LAZY drops windows, at the reported cost."""
    rows = [row for row in where(table, cost=REPORTED_COST) if number(row, "dropped_by_lazy") > 0]
    held = all(_is_as_reported(row) for row in rows)
    last = rows[-1]
    short = next(row for row in rows if row["size"] == last["size"])
    least = min(number(row, "shedding") / number(row, "lazy") for row in rows)
    closest = min(number(row, "half_kept") / number(row, "lazy") for row in rows)
    return Verdict(
        f"At C_t = 1 LAZY and EAGER {'have' if held else 'do not always have'} the least "
        f"staleness: at size {last['size']} after {last['ticks']} ticks, append has "
        f"{number(last, 'append'):.0f} ({number(short, 'append'):.0f} after {short['ticks']}), "
        f"random shedding of the same share {number(last, 'shedding'):.0f} "
        f"({number(short, 'shedding'):.0f}), LAZY {number(last, 'lazy'):.1f} and EAGER "
        f"{number(last, 'eager'):.1f}. Random shedding has at least {least:.1f} times the "
        f"staleness of LAZY, and at least {closest:.1f} times if it keeps half as many windows.",
        held,
    )


def _is_as_reported(row: Row) -> bool:
    append, shedding, lazy, eager = (
        number(row, name) for name in ("append", "shedding", "lazy", "eager")
    )
    return append >= shedding > lazy >= eager


FIGURES: Final = (
    Experiment(
        name="13a",
        title="Tumbling windows",
        claim=(
            "On tumbling windows of one key at C_t = 1, LAZY's application staleness grows "
            "linearly with the window size, and EAGER's decreases asymptotically."
        ),
        points=points_tumbling,
        measure=measure_tumbling,
        draw=draw_tumbling,
        verdict=judge_tumbling,
    ),
    Experiment(
        name="13b",
        title="Overlapping windows",
        claim=(
            "With windows that slide by 1, LAZY and EAGER have a lower application staleness than "
            "append windowing, even if that drops about as many windows at random."
        ),
        points=points_overlapping,
        measure=measure_overlapping,
        draw=draw_overlapping,
        verdict=judge_overlapping,
    ),
)
