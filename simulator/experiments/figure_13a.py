"""Figure 13a: LAZY and EAGER on tumbling windows: application staleness over the window size.

The report (section 6.3.1): one key, windows whose slide is their size. LAZY processes a window when
all of it has arrived, so its staleness contains C_t times the size, and grows linearly. EAGER
processes tuples as they arrive, and is stale for C_t after the end of each window of any size. The
average over longer and longer windows decreases asymptotically. The report assumes C_t = 1.

The report does not say which sizes and arrivals it uses, or when exactly a window is closed. Here:
sizes from 1 to 50, a tuple at each tick, and windows closed by the tuple in the last tick, as in
Figure 12. Panels of their own show what depends on these choices:

- A consumer that does not keep up (C_t = 2) makes EAGER grow linearly, too.
- If the first tuple of the next window closes a window, EAGER has finished the window by then, and
  is never stale at C_t = 1; LAZY is as stale as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from upstream import WindowSpecification

from .experiment import Cell, Experiment, Point, Scale, Table, Verdict, column, number, where
from .window_runs import BUFFERS, WindowRun, one_key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES: Final = (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50)
QUICK_SIZES: Final = (1, 2, 5, 10, 20)
REPORTED: Final[dict[str, Cell]] = {"cost": 1.0, "closed_by": "the last tick"}
PANELS: Final[tuple[dict[str, Cell], ...]] = (
    REPORTED,
    {"cost": 0.5, "closed_by": "the last tick"},
    {"cost": 2.0, "closed_by": "the last tick"},
    {"cost": 1.0, "closed_by": "the next tuple"},
)


def points(scale: Scale) -> list[Point]:
    """Return every size, as reported, and with other costs and closers."""
    sizes = QUICK_SIZES if scale.is_quick else SIZES
    return [{**panel, "size": size} for panel in PANELS for size in sizes]


def measure(point: Point, scale: Scale) -> Table:
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


def draw(table: Table, figure: Figure) -> None:
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


def verdict(table: Table) -> Verdict:
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


EXPERIMENT: Final = Experiment(
    name="13a",
    title="Tumbling windows",
    claim=(
        "On tumbling windows of one key at C_t = 1, LAZY's application staleness grows linearly "
        "with the window size, and EAGER's decreases asymptotically."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
