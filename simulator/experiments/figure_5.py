"""Figure 5: application and queue staleness of IN-PLACE over the load, of one key (a) and 10 (b).

The report, section 5.1, gives the average staleness in "number of updates". With one key, both
kinds grow in a similar way, and their difference is determined by the wait in the queue, "which is
solely a linear function of the load factor". With 10 keys that update equally often, queue
staleness is about 10 times as large, because the keys wait for one another; "the number of keys
does not affect the difference between application and queue staleness".

The report does not say which loads, which arrivals and how long a run. Here:

- Loads are from 0.2 to 20. The scheduler is IN-PLACE; with one key all update queues are the same.
- Times are in mean times between two arrivals of any key: only then is queue staleness 10 times as
  large with 10 keys. Both numbers of keys are measured on the same arrival times.
- `memoryless` arrivals are a Poisson process, so that Figure 5a can be compared with exact values,
  `exact_queue` and `exact_application`. At load c these tend to c/2 - 1 + 1/c and 3c/2 - 1, which
  explains the straight lines.
- `ticks` is the model of the report's section 5.2, an arrival in each tick with the key drawn by
  its share; it is drawn thin. With one key it matters little at high load and much below load 1,
  where nothing ever waits. At whole loads above 1, queue staleness is (c - 1)² / 2c: 0.25 instead
  of 0.40 at load 2, but 4.05 instead of 4.10 at load 10. Between whole loads both are above a
  straight line, because the first arrival after a dequeue may come within less than a tick. With 10
  keys there is no visible difference.

In overload each of n keys is served once in a round that takes n times the cost c, so the
difference is close to c - (n/c) (1 - e^(-c/n)), which is between c - 1 and c for any number of
keys. So the number of keys does affect the difference, by less than one update; the second panel of
Figure 5b shows it. Far below load 1 the effect is larger: a single key is stale while its own
update is processed, and with 10 keys that is a tenth of the time for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from upstream import single_key_application_staleness, single_key_queue_staleness

from ..model.measures import Measures
from ..model.policy_run import PolicyRun
from ..workloads.sources import FixedInterval, Poisson
from ..workloads.workload import Floats, Workload, uniform
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, grid, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOADS: Final = (0.2, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0, 15.0, 20.0)
QUICK_LOADS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
ARRIVALS: Final[dict[str, Callable[[Floats], Workload]]] = {
    "memoryless": Poisson,
    "ticks": FixedInterval,
}
OVERLOAD: Final = 2.0
"""The load from which growth is fitted: below it the server also idles."""
STRAIGHT: Final = 0.99
"""The least R² that is called linear."""
KEYS: Final = 10
NEAR: Final = 0.1
"""How far a ratio may be from what is claimed, at the highest load."""
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
    return grid(arrivals=ARRIVALS, load=loads)


def run(keys: int, point: Point, scale: Scale) -> Measures:
    """Run IN-PLACE with `keys` keys that update equally often."""
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


def measure_one_key(point: Point, scale: Scale) -> Table:
    """Measure one key, and put the exact values for memoryless arrivals beside it."""
    load = float(point["load"])
    exact: Row = {
        "exact_queue": single_key_queue_staleness(1.0, load),
        "exact_application": single_key_application_staleness(1.0, load),
    }
    return [{**staleness_row(1, point, run(1, point, scale)), **exact}]


def draw_one_key(table: Table, figure: Figure) -> None:
    """Draw both kinds of staleness, and the exact values as crosses."""
    axes = figure.subplots()
    draw_staleness(axes, table)
    rows = where(table, arrivals="memoryless")
    for of, label in (("application", "exact"), ("queue", "")):
        exact = column(rows, f"exact_{of}")
        axes.plot(column(rows, "load"), exact, "kx", label=label or None, markersize=7)
    axes.legend()


def judge_one_key(table: Table) -> Verdict:
    """Say how both grow, by how much they differ, and how far they are from the exact values."""
    rows = where(table, arrivals="memoryless")
    grown = {of: growth(rows, of) for of in ("queue", "application", "difference")}
    off = max(_off(row) for row in rows)
    ticks = max(where(table, arrivals="ticks"), key=_off)
    last = max(rows, key=lambda row: number(row, "load"))
    held = all(line.r_squared >= STRAIGHT and line.slope > 0 for line in grown.values())
    return Verdict(
        f"From load {OVERLOAD:g} on both {'grow' if held else 'do not grow'} linearly: per unit of "
        f"load queue staleness by {grown['queue'].slope:.2f} (R² {grown['queue'].r_squared:.4f}), "
        f"application staleness by {grown['application'].slope:.2f} "
        f"(R² {grown['application'].r_squared:.4f}) and the difference by "
        f"{grown['difference'].slope:.2f}, to {number(last, 'difference'):.1f} at load "
        f"{last['load']}. They are off the exact values by at most {off:.1%} of application "
        f"staleness; with an arrival in each tick, by up to {_off(ticks):.0%}, at load "
        f"{ticks['load']}.",
        held,
    )


def _off(row: Row) -> float:
    """Return the greater distance to the exact values, as a part of application staleness."""
    distances = (number(row, of) - number(row, f"exact_{of}") for of in ("queue", "application"))
    return max(map(abs, distances)) / number(row, "exact_application")


def measure_both(point: Point, scale: Scale) -> Table:
    """Measure one key and 10, each with the least that any order of service could reach."""
    rows: list[Row] = []
    for keys in (1, KEYS):
        measured = run(keys, point, scale)
        assert measured.queue.lower_bound is not None
        assert measured.application.lower_bound is not None
        bounds: Row = {
            "queue_memoryless_bound": measured.queue.lower_bound,
            "application_memoryless_bound": measured.application.lower_bound,
        }
        rows.append({**staleness_row(keys, point, measured), **bounds})
    return rows


def draw_both(table: Table, figure: Figure) -> None:
    """Draw both kinds of staleness of 10 keys, and their difference with 1 key and 10."""
    left, right = figure.subplots(1, 2)
    draw_staleness(left, where(table, keys=KEYS))
    left.set_title(f"{KEYS} keys")
    left.legend()
    _draw_difference(right, table)
    figure.set_size_inches(10.0, 4.8)


def _draw_difference(axes: Axes, table: Table) -> None:
    for keys, style in ((1, "C2-s"), (KEYS, "C3--o")):
        rows = where(table, keys=keys, arrivals="memoryless")
        label = f"{keys} keys" if keys > 1 else "1 key"
        axes.plot(column(rows, "load"), column(rows, "difference"), style, label=label, ms=5)
    axes.set_title("application - queue staleness")
    axes.set_xlabel("load factor")
    axes.set_ylabel("difference (number of updates)")
    axes.legend()


def judge_both(table: Table) -> Verdict:
    """Say how staleness grows, how it compares to that of one key, and so for the difference."""
    rows = where(table, arrivals="memoryless")
    many = sorted(where(rows, keys=KEYS), key=_load)
    one = sorted(where(rows, keys=1), key=_load)
    grown = {of: growth(many, of) for of in ("queue", "application")}
    is_straight = all(line.r_squared >= STRAIGHT for line in grown.values())
    pairs = {_load(row): (single, row) for single, row in zip(one, many, strict=True)}
    times = {load: _ratio("queue", *pair) for load, pair in pairs.items()}
    shares = {load: _ratio("difference", *pair) for load, pair in pairs.items()}
    gaps = {load: abs(_gap(*pair)) for load, pair in pairs.items()}
    first, last, widest = min(pairs), max(pairs), max(gaps, key=lambda load: gaps[load])
    held = is_straight and abs(times[last] / KEYS - 1.0) < NEAR and abs(shares[last] - 1.0) < NEAR
    return Verdict(
        f"From load {OVERLOAD:g} on queue staleness grows by {grown['queue'].slope:.2f} per unit "
        f"of load (R² {grown['queue'].r_squared:.4f}) and application staleness by "
        f"{grown['application'].slope:.2f} (R² {grown['application'].r_squared:.4f}); queue "
        f"staleness is {times[OVERLOAD]:.1f} times that of one key at load {OVERLOAD:g} and "
        f"{times[last]:.1f} times at load {last:g}. The difference of the two is "
        f"{shares[first]:.2f} times that with one key at load {first:g}, {shares[OVERLOAD]:.2f} "
        f"times at load {OVERLOAD:g} and {shares[last]:.2f} times at load {last:g}, and nowhere "
        f"more than {gaps[widest]:.2f} updates off it (load {widest:g}).",
        held,
    )


def _ratio(of: str, single: Row, row: Row) -> float:
    return number(row, of) / number(single, of)


def _gap(single: Row, row: Row) -> float:
    return number(row, "difference") - number(single, "difference")


def _load(row: Row) -> float:
    return number(row, "load")


FIGURES: Final = (
    Experiment(
        name="5a",
        title="Application staleness vs. queue staleness, single key",
        claim=(
            "Application and queue staleness grow in a similar way with the load, and their "
            "difference is determined by the wait in the queue, which is a linear function of the "
            "load."
        ),
        points=points,
        measure=measure_one_key,
        draw=draw_one_key,
        verdict=judge_one_key,
    ),
    Experiment(
        name="5b",
        title="Application staleness vs. queue staleness, 10 keys",
        claim=(
            "With 10 keys queue staleness is about 10 times that of one key, while the number of "
            "keys does not affect the difference between application and queue staleness."
        ),
        points=points,
        measure=measure_both,
        draw=draw_both,
        verdict=judge_both,
    ),
)
