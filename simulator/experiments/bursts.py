"""Bursts: is LINECUTTING the right policy when slow keys update all at once?

The report gives this as the second reason for LINECUTTING (section 5.3): slow updaters may update
together or nearly so. They are not stale in between, and should go to the front when they arrive.
The report shows no measurement with bursts; its Figure 9 has keys that update independently.

Here 100 keys are of two classes. The slow ones update in bursts, each once per burst, and the
others memorylessly in between. The x-axis is the number of slow keys. Each burst comes at one
instant. The answer depends on further parameters, which have columns: slow keys 10 or 100 times
slower, loads of 2 and 5, bursts spread over half of the time between them, no bursts at all (the
same rates, memoryless), and rates that are estimated instead of known. All policies get the same
arrivals. There is no lower bound for bursts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..model.policy_run import PolicyRun
from ..workloads.sources import Bursts, Poisson
from ..workloads.workload import Workload, two_classes
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, grid, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS: Final = 100
LOADS: Final = (2, 5)
RATIOS: Final = (10, 100)
SLOW_KEYS: Final = (10, 30, 50, 70, 90)
ARRIVALS: Final = ("at once", "spread", "no bursts")
SPREAD: Final = 0.5
"""Over which share of the time from one burst to the next a spread burst is spread."""
RUNS: Final = (
    ("in-place", "unused"),
    ("fifo", "unused"),
    ("linecutting", "known"),
    ("index", "known"),
    ("linecutting", "estimated"),
    ("index", "estimated"),
)
"""Policies and what they know about the rates; estimated only for bursts at once."""
GROUPS: Final = ("all", "slow", "fast")

COLORS: Final = {"fifo": "C1", "linecutting": "C2", "index": "C0"}
LINES: Final = {10: ":", 100: "-"}


def points(scale: Scale) -> list[Point]:
    """Return every load, ratio, kind of bursts and number of slow keys; fewer if quick."""
    arrivals = ("at once", "no bursts") if scale.is_quick else ARRIVALS
    ratios = RATIOS[:1] if scale.is_quick else RATIOS
    slow_keys = (10, 50, 90) if scale.is_quick else SLOW_KEYS
    return grid(arrivals=arrivals, load=LOADS, ratio=ratios, slow_keys=slow_keys)


def measure(point: Point, scale: Scale) -> Table:
    """Run all policies on the same arrivals."""
    runs = RUNS if point["arrivals"] == "at once" else RUNS[:4]
    staleness = {run: _staleness(point, scale, policy=run[0], rates=run[1]) for run in runs}
    in_place = staleness[RUNS[0]]
    rows: list[Row] = []
    for (policy, rates), found in staleness.items():
        ratios = {f"{group}_over_in_place": found[group] / in_place[group] for group in GROUPS}
        rows.append({**point, "policy": policy, "rates": rates, **found, **ratios})
    return rows


def _staleness(point: Point, scale: Scale, *, policy: str, rates: str) -> dict[str, float]:
    """Return the mean queue staleness of each group of keys."""
    measured = PolicyRun(
        policy=policy,
        workload=_workload(point),
        cost=float(point["load"]),
        updates=scale.choose(full=120_000, quick=8_000),
        seed=scale.seed,
        is_informed=rates == "known",
    ).measure()
    by_key = measured.queue.by_key
    fast_keys = KEYS - int(point["slow_keys"])
    # A key that has not come yet is not stale.
    means = np.array([by_key.get(key, 0.0) for key in range(KEYS)])
    groups = {"all": means, "slow": means[fast_keys:], "fast": means[:fast_keys]}
    return {group: float(groups[group].mean()) for group in GROUPS}


def _workload(point: Point) -> Workload:
    slow = int(point["slow_keys"])
    shares = two_classes(KEYS, slow, float(point["ratio"]))
    if point["arrivals"] == "no bursts":
        return Poisson(shares)
    bursts = Bursts(shares, bursting=slow)
    if point["arrivals"] == "spread":
        return Bursts(shares, bursting=slow, spread=SPREAD * bursts.interval)
    return bursts


def draw(table: Table, figure: Figure) -> None:
    """Draw staleness over that of IN-PLACE, bursts at once; a panel for each load and group."""
    figure.set_size_inches(12.5, 6.4)
    panels = figure.subplots(len(LOADS), len(GROUPS), sharex=True, sharey="col")
    for load, panels_of_load in zip(LOADS, panels, strict=True):
        rows = where(table, arrivals="at once", load=load)
        for group, axes in zip(GROUPS, panels_of_load, strict=True):
            _draw_panel(rows, group, axes)
            axes.set_title(f"{group} keys, load {load}")
        panels_of_load[0].set_ylabel("queue staleness / IN-PLACE")
    for axes in (panels[0, 0], *panels[-1]):
        axes.set_xlabel("slow keys of 100, updating in bursts")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")


def _draw_panel(rows: Table, group: str, axes: Axes) -> None:
    for policy, color in COLORS.items():
        for ratio, style in LINES.items():
            lines = [row for row in where(rows, policy=policy, ratio=ratio) if _is_main(row)]
            if lines:
                axes.plot(
                    column(lines, "slow_keys"),
                    column(lines, f"{group}_over_in_place"),
                    color=color,
                    linestyle=style,
                    marker=".",
                    label=f"{policy}, {ratio} times slower",
                )
    axes.axhline(1.0, color="grey", linewidth=0.8)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}" if group != "slow" else "")


def verdict(table: Table) -> Verdict:
    """Say where LINECUTTING helps, with and without bursts, and compare the index."""
    rows = [row for row in table if _is_main(row)]
    linecutting = where(rows, policy="linecutting")
    in_bursts = [row for row in linecutting if row["arrivals"] != "no bursts"]
    index = [row for row in where(rows, policy="index") if row["arrivals"] != "no bursts"]
    index_is_ahead = sum(
        _over_in_place(one) <= _over_in_place(other)
        for one, other in zip(index, in_bursts, strict=True)
    )
    helped = sum(number(row, "slow_over_in_place") < 1 for row in in_bursts)
    found = "; ".join(_found_at(load, in_bursts, index) for load in LOADS)
    return Verdict(
        f"In bursts LINECUTTING is better than IN-PLACE for the slow keys in {helped} of "
        f"{len(in_bursts)} settings; for all keys together {_helped_by_arrivals(linecutting)}. "
        f"In bursts {found}; the index is at least as good as LINECUTTING in {index_is_ahead} of "
        f"{len(in_bursts)}.",
        None,
    )


def _found_at(load: int, linecutting: Table, index: Table) -> str:
    ours = column(where(linecutting, load=load), "all_over_in_place")
    theirs = column(where(index, load=load), "all_over_in_place")
    return (
        f"at load {load} it has {min(ours):.2f} to {max(ours):.2f} times the staleness of "
        f"IN-PLACE, the index {min(theirs):.2f} to {max(theirs):.2f}"
    )


def _helped_by_arrivals(linecutting: Table) -> str:
    """Tell in how many settings LINECUTTING is better for all keys, for each kind of arrivals."""
    counts = []
    for kind in ARRIVALS:
        rows = where(linecutting, arrivals=kind)
        if rows:
            better = sum(_over_in_place(row) < 1 for row in rows)
            counts.append(f"in {better} of {len(rows)} ({kind})")
    return ", ".join(counts)


def _is_main(row: Row) -> bool:
    return row["rates"] != "estimated"


def _over_in_place(row: Row) -> float:
    return number(row, "all_over_in_place")


EXPERIMENT: Final = Experiment(
    name="bursts",
    title="slow keys that update all at once",
    claim="Does LINECUTTING help when slow updaters update in bursts?",
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
