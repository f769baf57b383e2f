"""Weights: how much it helps to give the index weights for keys that matter more.

The report treats all keys alike, and names keys that the application needs at different rates as
future work (section 8). The index takes a weight for each key. Here a tenth of 100 keys weighs 1 to
100 times as much as the others. The measure is the weighted mean staleness, which is the sum over
keys of weight times staleness divided by the sum of weights, relative to that of IN-PLACE. Beside
it is the lower bound for these weights; `staleness_lower_bound` returns the mean over keys of
weight times staleness, so it is divided by the mean weight.

Chosen: memoryless arrivals, Zipf 0.9, estimated rates, a fifth of each run as warm-up. The shape
depends on which keys are heavy and on the load. So the heavy keys are every tenth key in order of
rate, the slowest tenth, or the busiest tenth, and the loads are 2, 5 and 20.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from upstream import (
    InPlaceScheduler,
    Scheduler,
    StalenessIndexScheduler,
    UpdateQueue,
    staleness_lower_bound,
)

from ..model.measures import Measures, Staleness
from ..model.simulation import Simulation
from ..workloads.sources import Poisson
from ..workloads.workload import Floats, KnownFromStart, zipf
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, grid, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS: Final = 100
THETA: Final = 0.9
LOADS: Final = (2, 5, 20)
MAIN_LOAD: Final = 5
SPREADS: Final = (1, 3, 10, 30, 100)
"""How many times more the heavy keys weigh."""
HEAVY: Final = {
    "every tenth key": tuple(range(5, KEYS, 10)),
    "the slowest keys": tuple(range(KEYS - 10, KEYS)),
    "the busiest keys": tuple(range(10)),
}
"""Which keys are heavy; key 0 is the busiest."""
POLICIES: Final = ("in-place", "index", "weighted index")
WARM_UP: Final = 0.2


def points(scale: Scale) -> list[Point]:
    """Return every load, choice of heavy keys and spread of the weights; fewer if quick."""
    loads = (MAIN_LOAD,) if scale.is_quick else LOADS
    spreads = (1, 10, 100) if scale.is_quick else SPREADS
    return grid(load=loads, heavy=HEAVY, spread=spreads)


def measure(point: Point, scale: Scale) -> Table:
    """Run all policies on the same arrivals."""
    weights = _weights(point)
    rates = zipf(KEYS, THETA)
    bounds = {
        of: staleness_lower_bound(rates, float(point["load"]), of=of, weights=weights)
        / float(weights.mean())
        for of in ("queue", "application")
    }
    rows: list[Row] = []
    for policy in POLICIES:
        measured = _run(policy, point, scale)
        queue = _by_key(measured.queue)
        application = _by_key(measured.application)
        is_heavy = np.isin(np.arange(KEYS), HEAVY[str(point["heavy"])])
        row: Row = {
            **point,
            "policy": policy,
            "queue": float(np.average(queue, weights=weights)),
            "queue_bound": bounds["queue"],
            "application": float(np.average(application, weights=weights)),
            "application_bound": bounds["application"],
            "queue_of_heavy_keys": float(queue[is_heavy].mean()),
            "queue_of_light_keys": float(queue[~is_heavy].mean()),
        }
        rows.append(row)
    return rows


def _weights(point: Point) -> Floats:
    weights = np.ones(KEYS)
    weights[list(HEAVY[str(point["heavy"])])] = float(point["spread"])
    return weights


def _by_key(staleness: Staleness) -> Floats:
    return np.array([staleness.by_key[key] for key in range(KEYS)])


def _run(policy: str, point: Point, scale: Scale) -> Measures:
    workload = KnownFromStart(Poisson(zipf(KEYS, THETA)))
    simulation = Simulation(workload, seed=scale.seed, loop="plain")
    queue = UpdateQueue(_scheduler(policy, point), clock=simulation.clock)
    subscriber = simulation.add(policy, queue, cost=float(point["load"]))
    updates = scale.choose(full=160_000, quick=12_000)
    before = int(WARM_UP * updates)
    simulation.run(KEYS + before)
    mark = simulation.mark(subscriber)
    simulation.run(updates - before)
    return simulation.measures(subscriber, since=mark)


def _scheduler(policy: str, point: Point) -> Scheduler:
    if policy == "in-place":
        return InPlaceScheduler()
    if policy == "index":
        return StalenessIndexScheduler()
    return StalenessIndexScheduler(weight=dict(enumerate(_weights(point).tolist())))


def draw(table: Table, figure: Figure) -> None:
    """Draw weighted staleness over that of IN-PLACE; panels for loads and choices of heavy keys."""
    loads = sorted({number(row, "load") for row in table})
    figure.set_size_inches(11.0, 2.6 * len(loads) + 1.4)
    panels = figure.subplots(len(loads), len(HEAVY), sharex=True, sharey=True, squeeze=False)
    for load, panels_of_load in zip(loads, panels, strict=True):
        for heavy, axes in zip(HEAVY, panels_of_load, strict=True):
            _draw_panel(where(table, load=load, heavy=heavy), axes)
            axes.set_title(f"load {load:g}, heavy: {heavy}")
        panels_of_load[0].set_ylabel("weighted staleness / IN-PLACE")
    for axes in (panels[0, 0], *panels[-1]):
        axes.set_xlabel("weight of a tenth of the keys")
    panels[0, 0].set_ylim(bottom=0.0)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")


def _draw_panel(rows: Table, axes: Axes) -> None:
    in_place = column(where(rows, policy="in-place"), "queue")
    for policy, color in (("index", "C0"), ("weighted index", "C3")):
        line = where(rows, policy=policy)
        ratios = np.divide(column(line, "queue"), in_place)
        axes.plot(column(line, "spread"), ratios, color=color, marker=".", label=policy)
    line = where(rows, policy="in-place")
    bound = np.divide(column(line, "queue_bound"), in_place)
    axes.plot(column(line, "spread"), bound, "k--", label="lower bound")
    axes.axhline(1.0, color="grey", linewidth=0.8, label="in-place")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")


def verdict(table: Table) -> Verdict:
    """Say how much weights help at the main load, what they cost the light keys, and the bound."""
    found = "; ".join(_found_if_heavy(heavy, table) for heavy in HEAVY)
    over_bound = [
        number(row, "queue") / number(row, "queue_bound")
        for row in where(table, policy="weighted index", load=MAIN_LOAD)
    ]
    return Verdict(
        f"At load {MAIN_LOAD} with weights of {_heaviest(table)} and 1, the weighted queue "
        f"staleness of the index with and without the weights, divided by that of IN-PLACE, is "
        f"{found}. Over all weights, the index with the weights has {min(over_bound):.2f} to "
        f"{max(over_bound):.2f} times the weighted lower bound.",
        None,
    )


def _found_if_heavy(heavy: str, table: Table) -> str:
    rows = where(table, heavy=heavy, load=MAIN_LOAD, spread=_heaviest(table))
    [in_place], [index], [weighted] = (where(rows, policy=policy) for policy in POLICIES)
    base = number(in_place, "queue")
    price = number(weighted, "queue_of_light_keys") / number(index, "queue_of_light_keys")
    return (
        f"{number(weighted, 'queue') / base:.2f} and {number(index, 'queue') / base:.2f} with "
        f"{heavy} heavy (the weights make the light keys {price:.2f} times as stale)"
    )


def _heaviest(table: Table) -> int:
    return int(max(column(table, "spread")))


EXPERIMENT: Final = Experiment(
    name="weights",
    title="keys that matter more",
    claim="How much do weights for the index help, and how near is the bound?",
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
