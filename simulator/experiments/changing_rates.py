"""Changing rates: how good is the index when the busy keys change?

The report assumes that update rates are given and constant. The index estimates them from each
key's intervals, and forgets a share of the past with each interval (`forgetting`). Here 100 keys
have Zipf shares that are dealt again, at random, every period. The plot shows, over the length of
the period and relative to IN-PLACE on the same arrivals, the index with estimated rates and the
index with the average rates. The latter are wrong at any one time, unless the rates never change.

Chosen: Zipf 1.2, because the index has more to win, and to lose, the more the rates differ; eight
deals in turn; memoryless arrivals within a period; the forgetting of the library, 0.05, and others
from 0.01 to 0.5, each as a series. The lower bound does not apply, as it assumes constant rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from upstream import InPlaceScheduler, StalenessIndexScheduler, UpdateQueue
from upstream.statistics import DEFAULT_FORGETTING

from ..model.measures import Measures
from ..model.simulation import Simulation
from ..workloads.sources import ChangingRates
from ..workloads.workload import Floats, zipf
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, grid, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS: Final = 100
THETA: Final = 1.2
DEALS: Final = 8
LOADS: Final = (2, 5)
PERIODS: Final = (100, 500, 2_000, 10_000, 50_000, 400_000)
UPDATES: Final = 400_000
"""As many as the longest period has: in it the rates never change."""
FORGETTING: Final = (0.01, DEFAULT_FORGETTING, 0.2, 0.5)
RUNS: Final = (
    ("in-place", "unused", 0.0),
    ("index", "average", 0.0),
    *(("index", "estimated", forgetting) for forgetting in FORGETTING),
)
"""Policies, what they know about the rates, and the forgetting; 0 if nothing is estimated."""
QUICK_SHARE: Final = 40


def points(scale: Scale) -> list[Point]:
    """Return every load and period; if quick, one load, and periods in scale with the updates."""
    if scale.is_quick:
        return [{"load": 5, "period": period // QUICK_SHARE} for period in PERIODS[2:]]
    return grid(load=LOADS, period=PERIODS)


def measure(point: Point, scale: Scale) -> Table:
    """Run IN-PLACE and each index on the same arrivals."""
    updates = scale.choose(full=UPDATES, quick=UPDATES // QUICK_SHARE)
    period = int(point["period"])
    deals = _deals(min(DEALS, updates // period), scale.seed)
    workload = ChangingRates(deals, period=float(period))
    rows: list[Row] = []
    in_place: Measures | None = None
    for policy, rates, forgetting in RUNS:
        simulation = Simulation(workload, seed=scale.seed, loop="plain")
        queue = UpdateQueue(
            InPlaceScheduler() if policy == "in-place" else StalenessIndexScheduler(),
            clock=simulation.clock,
            rates=simulation.rates if rates == "average" else None,
            forgetting=forgetting or DEFAULT_FORGETTING,
        )
        subscriber = simulation.add(policy, queue, cost=float(point["load"]))
        simulation.run(updates)
        measured = simulation.measures(subscriber)
        in_place = in_place or measured
        row: Row = {
            **point,
            "policy": policy,
            "rates": rates,
            "forgetting": forgetting,
            "queue": measured.queue.mean,
            "application": measured.application.mean,
            "queue_over_in_place": measured.queue.mean / in_place.queue.mean,
            "application_over_in_place": measured.application.mean / in_place.application.mean,
        }
        rows.append(row)
    return rows


def _deals(count: int, seed: int) -> list[Floats]:
    random = np.random.default_rng([seed, 3])
    return [random.permutation(zipf(KEYS, THETA)) for _ in range(count)]


def draw(table: Table, figure: Figure) -> None:
    """Draw staleness over that of IN-PLACE by the length of a period; a panel for each load."""
    loads = sorted({number(row, "load") for row in table})
    figure.set_size_inches(5.0 * len(loads) + 1.0, 4.4)
    panels = figure.subplots(1, len(loads), sharey=True, squeeze=False)[0]
    for load, axes in zip(loads, panels, strict=True):
        rows = where(table, load=load)
        _draw_line(axes, where(rows, rates="average"), "average rates", "k--")
        for forgetting in FORGETTING:
            label = f"estimated, forgetting {forgetting:g}"
            _draw_line(axes, where(rows, rates="estimated", forgetting=forgetting), label, "-")
        axes.axhline(1.0, color="grey", linewidth=0.8)
        axes.set_title(f"load {load:g}")
        periods = sorted(set(column(rows, "period")))
        axes.set_xscale("log")
        axes.set_xticks(periods, labels=[*(f"{period:,.0f}" for period in periods[:-1]), "never"])
        axes.minorticks_off()
        axes.set_xlabel("updates until the rates change")
    panels[0].set_ylabel("queue staleness, index / IN-PLACE")
    panels[0].legend()


def _draw_line(axes: Axes, line: Table, label: str, style: str) -> None:
    ratios = column(line, "queue_over_in_place")
    axes.plot(column(line, "period"), ratios, style, marker=".", label=label)


def verdict(table: Table) -> Verdict:
    """Compare the index over all periods: by default, with average rates, and at its best."""
    shortest = min(column(table, "period"))
    longest = max(column(table, "period"))
    changing = [row for row in table if row["period"] != longest]
    usual = where(changing, rates="estimated", forgetting=DEFAULT_FORGETTING)
    average = where(changing, rates="average")
    worst = max(usual, key=_ratio)
    best = min(usual, key=_ratio)
    return Verdict(
        f"With estimated rates that change every {shortest:g} updates or more, the index has "
        f"{_ratio(best):.2f} (load {best['load']}, every {best['period']}) to {_ratio(worst):.2f} "
        f"(load {worst['load']}, every {worst['period']}) times the queue staleness of IN-PLACE; "
        f"given the average rates, {min(map(_ratio, average)):.2f} to "
        f"{max(map(_ratio, average)):.2f}. {_said_of_forgetting(table)}",
        None,
    )


def _said_of_forgetting(table: Table) -> str:
    """Tell the range of the index over all periods, for each forgetting."""
    ranges = []
    for forgetting in FORGETTING:
        ratios = [_ratio(row) for row in where(table, rates="estimated", forgetting=forgetting)]
        ranges.append(f"{forgetting:g}: {min(ratios):.2f} to {max(ratios):.2f}")
    return f"By forgetting, over all periods: {'; '.join(ranges)}."


def _ratio(row: Row) -> float:
    return number(row, "queue_over_in_place")


EXPERIMENT: Final = Experiment(
    name="changing-rates",
    title="the index when busy keys change",
    claim="How fast may update rates change before their estimates mislead the index?",
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
