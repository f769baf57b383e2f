"""Figure 5a: application and queue staleness of a single key over the load.

The report, section 5.1: the average staleness, in "number of updates", of one key; both kinds grow
in a similar way, and their difference is determined by the wait in the queue, "which is solely a
linear function of the load factor".

The report is silent on the loads, the arrivals, and the length of a run. Here: IN-PLACE, as all
update queues are the same with one key; loads from 0.2 to 20; a number of updates is read as so
many mean times between two arrivals. Arrivals are memoryless, so that what is measured can be held
against exact values, which `exact_queue` and `exact_application` are; at load c they tend to
c/2 - 1 + 1/c and 3c/2 - 1, whence the straight lines.

The choice matters little at high load, and much below 1. With an arrival in each tick (drawn thin)
nothing ever waits up to load 1. At whole loads above it, queue staleness is (c - 1)² / 2c: 0.25
instead of 0.40 at load 2, but 4.05 instead of 4.10 at load 10. Between whole loads both are higher
than on a straight line, as the first arrival after a dequeue may come within less than a tick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from upstream import single_key_application_staleness, single_key_queue_staleness

from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, number, where
from .staleness_by_load import (
    OVERLOAD,
    STRAIGHT,
    draw_staleness,
    growth,
    points,
    run,
    staleness_row,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(point: Point, scale: Scale) -> Table:
    """Measure one key, and put the exact values for memoryless arrivals beside it."""
    load = float(point["load"])
    exact: Row = {
        "exact_queue": single_key_queue_staleness(1.0, load),
        "exact_application": single_key_application_staleness(1.0, load),
    }
    return [{**staleness_row(1, point, run(1, point, scale)), **exact}]


def draw(table: Table, figure: Figure) -> None:
    """Draw both kinds of staleness, and the exact values as crosses."""
    axes = figure.subplots()
    draw_staleness(axes, table)
    rows = where(table, arrivals="memoryless")
    for of, label in (("application", "exact"), ("queue", "")):
        exact = column(rows, f"exact_{of}")
        axes.plot(column(rows, "load"), exact, "kx", label=label or None, markersize=7)
    axes.legend()


def verdict(table: Table) -> Verdict:
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


EXPERIMENT: Final = Experiment(
    name="5a",
    title="Application staleness vs. queue staleness, single key",
    claim=(
        "Application and queue staleness grow in a similar way with the load, and their difference "
        "is determined by the wait in the queue, which is a linear function of the load."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
