"""Figure 5b: application and queue staleness of 10 keys over the load, against those of one key.

The report, section 5.1: as Figure 5a, with 10 keys that update equally often. Queue staleness is
about 10 times that of one key, since the keys wait for one another; "the number of keys does not
affect the difference between application and queue staleness".

The report is silent on the same things as in Figure 5a, and they are chosen as there. A number of
updates counts those of all keys: only so is queue staleness 10 times as much, and not as much as
with one key. Both numbers of keys are measured on the same arrival times.

In overload each of n keys is served once in a round that takes n times the cost c, so that the
difference is close to c - (n/c) (1 - e^(-c/n)): it is between c - 1 and c for any number of keys.
So the number of keys does affect it, by less than one update, which hardly shows at the scale of
this figure; the second panel shows it. Far below load 1 it does more: a key that is alone is stale
while its own update is processed, and with 10 keys that is a tenth of the time for each. Memoryless
arrivals or one in each tick (thin) make no visible difference here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS: Final = 10
NEAR: Final = 0.1
"""How far a ratio may be from what is claimed, at the highest load."""


def measure(point: Point, scale: Scale) -> Table:
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


def draw(table: Table, figure: Figure) -> None:
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


def verdict(table: Table) -> Verdict:
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


EXPERIMENT: Final = Experiment(
    name="5b",
    title="Application staleness vs. queue staleness, 10 keys",
    claim=(
        "With 10 keys queue staleness is about 10 times that of one key, while the number of keys "
        "does not affect the difference between application and queue staleness."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
