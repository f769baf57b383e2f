"""Application and queue staleness of IN-PLACE over the load: what Figures 5a and 5b have in common.

A row is a number of keys, a load, and a kind of arrivals. `memoryless` is a Poisson process;
`ticks` is the model of the report's section 5.2, an arrival in each tick, the key drawn by its
share. All times are in mean times between two arrivals of any key, so "numbers of updates".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..model.measures import Measures
from ..model.policy_run import PolicyRun
from ..workloads.key_rates import KeyShares, uniform
from ..workloads.sources import FixedInterval, Poisson
from ..workloads.workload import Workload
from .experiment import Point, Row, Scale, Table, column, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOADS: Final = (0.2, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0, 15.0, 20.0)
QUICK_LOADS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
ARRIVALS: Final[dict[str, Callable[[KeyShares], Workload]]] = {
    "memoryless": Poisson,
    "ticks": FixedInterval,
}
OVERLOAD: Final = 2.0
"""The load from which growth is fitted: below it the server also idles."""
STRAIGHT: Final = 0.99
"""The least R² of what is called linear."""


STYLES: Final = {"application": "C0-", "queue": "C1--"}
"""Colour and stroke of both kinds of staleness, as in Figure 4."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A straight line through points, by least squares."""

    slope: float
    r_squared: float
    """The part of the variance that the line explains; 1 if all points are on it."""


def points(scale: Scale) -> list[Point]:
    """Return every load with either kind of arrivals."""
    loads = QUICK_LOADS if scale.is_quick else LOADS
    return [{"arrivals": arrivals, "load": load} for arrivals in ARRIVALS for load in loads]


def run(keys: int, point: Point, scale: Scale) -> Measures:
    """Run IN-PLACE with so many keys that update equally often."""
    return PolicyRun(
        policy="in-place",
        workload=ARRIVALS[str(point["arrivals"])](uniform(keys)),
        cost=float(point["load"]),
        updates=scale.choose(full=250_000, quick=15_000),
        seed=scale.seed,
    ).measure()


def staleness_row(keys: int, point: Point, measured: Measures) -> Row:
    """Return both kinds of staleness and their difference."""
    return {
        "keys": keys,
        **point,
        "queue": measured.queue.mean,
        "application": measured.application.mean,
        "difference": measured.application.mean - measured.queue.mean,
    }


def growth(table: Table, of: str) -> Growth:
    """Fit a straight line to a column over the load, where there is overload.

    >>> line = growth([{"load": 2.0, "queue": 1.0}, {"load": 4.0, "queue": 2.0}], "queue")
    >>> round(line.slope, 6), round(line.r_squared, 6)
    (0.5, 1.0)
    """
    rows = [row for row in table if number(row, "load") >= OVERLOAD]
    loads, values = np.array(column(rows, "load")), np.array(column(rows, of))
    start, slope = np.polynomial.polynomial.polyfit(loads, values, 1).tolist()
    unexplained = float(np.square(values - start - slope * loads).sum())
    variance = float(np.square(values - values.mean()).sum())
    return Growth(slope, 1.0 - unexplained / variance if variance else 0.0)


def draw_staleness(axes: Axes, table: Table) -> None:
    """Draw both kinds of staleness over the load; thin where arrivals are in ticks."""
    for arrivals, width, marker in (("memoryless", 1.5, "o"), ("ticks", 0.7, "")):
        rows = where(table, arrivals=arrivals)
        for of, style in STYLES.items():
            axes.plot(
                *(column(rows, "load"), column(rows, of), style),
                linewidth=width,
                marker=marker,
                markersize=4,
                label=f"{of} staleness" + (", ticks" if arrivals == "ticks" else ""),
            )
    axes.set_xlabel("load factor")
    axes.set_ylabel("staleness (number of updates)")
