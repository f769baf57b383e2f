"""Figure 9: the queue staleness of IN-PLACE over that of LINECUTTING, with slow and fast keys.

The report: 10 keys of two classes, the slow ones "very slow"; in its example the others update 10
times more. The load is 5, the x-axis is the number of slow updaters, and the y-axis is the ratio of
the mean queue staleness: above 1, LINECUTTING is better. It also says that other loads gave a
similar result.

The report does not say how slow the slow updaters of the figure are, how long a run is, or whether
rates are known. Here: ratios of 10, 30, 100 and 300, because the shape depends on them; loads of 2,
5 and 10; one arrival per tick, with the key drawn by its share, as in the report's proof for
IN-PLACE; and the true rates, so that the figure shows the rule itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..model.policy_run import PolicyRun
from ..workloads.sources import FixedInterval
from ..workloads.workload import two_classes
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, grid, number, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS: Final = 10
LOADS: Final = (2, 5, 10)
RATIOS: Final = (10, 30, 100, 300)
REPORTED_LOAD: Final = 5
REPORTED_BEST: Final = 8
"""The number of slow updaters at which the report sees the highest benefit."""


def points(scale: Scale) -> list[Point]:
    """Return every number of slow updaters, ratio and load; fewer of the latter if quick."""
    loads = (REPORTED_LOAD,) if scale.is_quick else LOADS
    ratios = (10, 100) if scale.is_quick else RATIOS
    return grid(load=loads, ratio=ratios, slow_updaters=range(KEYS + 1))


def measure(point: Point, scale: Scale) -> Table:
    """Run both policies on the same arrivals."""
    shares = two_classes(KEYS, int(point["slow_updaters"]), float(point["ratio"]))
    staleness = {
        policy: PolicyRun(
            policy=policy,
            workload=FixedInterval(shares),
            cost=float(point["load"]),
            updates=scale.choose(full=400_000, quick=20_000),
            seed=scale.seed,
            is_informed=True,
        )
        .measure()
        .queue.mean
        for policy in ("in-place", "linecutting")
    }
    ratio = staleness["in-place"] / staleness["linecutting"]
    row: Row = {
        **point,
        "in_place": staleness["in-place"],
        "linecutting": staleness["linecutting"],
        "in_place_over_linecutting": ratio,
    }
    return [row]


def draw(table: Table, figure: Figure) -> None:
    """Draw the ratio over the number of slow updaters; a panel for each load."""
    loads = sorted({number(row, "load") for row in table})
    panels = figure.subplots(1, len(loads), sharey=True, squeeze=False)[0]
    for axes, load in zip(panels, loads, strict=True):
        rows = where(table, load=load)
        for ratio in sorted({number(row, "ratio") for row in rows}):
            line = where(rows, ratio=ratio)
            axes.plot(
                column(line, "slow_updaters"),
                column(line, "in_place_over_linecutting"),
                marker="o",
                label=f"{ratio:g} times slower",
            )
        axes.axhline(1.0, color="grey", linewidth=0.8)
        axes.set_title(f"load {load:g}")
        axes.set_xlabel("number of slow updaters")
    panels[0].set_ylabel("queue staleness, IN-PLACE / LINECUTTING")
    panels[0].legend()


def verdict(table: Table) -> Verdict:
    """Say where LINECUTTING is better at the report's load, and by how much."""
    rows = where(table, load=REPORTED_LOAD)
    found = []
    for ratio in (10, 100):
        best = max(where(rows, ratio=ratio), key=_benefit)
        worst = min(where(rows, ratio=ratio), key=_benefit)
        found.append(
            f"{ratio} times slower, IN-PLACE has {_benefit(worst):.2f} "
            f"({worst['slow_updaters']} slow keys) to {_benefit(best):.2f} "
            f"({best['slow_updaters']}) times the staleness of LINECUTTING"
        )
    very_slow = max(where(rows, ratio=100), key=_benefit)
    held = _benefit(very_slow) > 1.05
    said = "held for very slow updaters" if held else "did not hold"
    return Verdict(
        f"At load 5 the benefit of LINECUTTING {said}: if slow keys are {'; if '.join(found)} "
        f"(the report has its best at {REPORTED_BEST} slow keys).",
        held,
    )


def _benefit(row: Row) -> float:
    return number(row, "in_place_over_linecutting")


EXPERIMENT: Final = Experiment(
    name="9",
    title="Linecutting: slow and fast updaters",
    claim=(
        "With non-uniform rates, letting sufficiently slow updaters cut the line decreases the "
        "average staleness."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
