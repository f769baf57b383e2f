"""Figure 8: the number of updates of each stock symbol in a trading day.

The report (section 5.3) shows how non-uniform real update frequencies are: in a day of NYSE trades
and quotes (TAQ, January 2006) more than 3,000 symbols were updated, the most active 4,305 times,
the least active once. It then asks whether IN-PLACE is still the best that can be done for such
frequencies.

The data may not be passed on, so the day is a generated one (`trading_day`). The report gives only
the two ends, which are parameters of the generator. The counts that are drawn and judged are those
of the updates that an append queue of the library handed out when the whole day went through it.
The report shows the symbols between the ends in an image that we do not have. Two shapes, a power
law and a lognormal one, show how much depends on them, in the number of updates and in the share of
the busiest symbols.

The question is answered on the same days, at load 5 on average over the day, by the mean queue
staleness with IN-PLACE, LINECUTTING and the index. The latter two run with the rates that the queue
estimates, and with the true ones: each symbol's updates over the whole day, which no real queue can
know beforehand. The lower bound holds for memoryless arrivals at constant rates only; staleness may
be below it on a day that ends, and that opens and closes in bursts.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from upstream import AppendQueue, ManualClock, staleness_lower_bound
from upstream.workloads.trading_day import SHAPES

from ..model.policy_run import PolicyRun
from ..workloads.recorded import replay, trading_day
from ..workloads.trace_file import TraceFile
from .experiment import Cell, Experiment, Point, Row, Scale, Table, Verdict, column, number, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMBOLS: Final = 3_000
BUSIEST: Final = 4_305
SLOWEST: Final = 1
"""The report's numbers: more symbols than that, and the updates of the two ends."""
LOAD: Final = 5.0
RANKS: Final = 100
"""About how many symbols are in the table, more of the busy ones."""
RUNS: Final = (
    ("in_place", "in-place", False),
    ("linecutting", "linecutting", False),
    ("linecutting_true_rates", "linecutting", True),
    ("index", "index", False),
    ("index_true_rates", "index", True),
)
"""Columns of queue staleness: the policy, and whether it knows the rates."""


def points(scale: Scale) -> list[Point]:
    """Return the shapes of the day; only the first one if quick."""
    shapes = list(SHAPES)[:1] if scale.is_quick else list(SHAPES)
    return [{"shape": shape} for shape in shapes]


def measure(point: Point, scale: Scale) -> Table:
    """Send a day through a queue, count its updates, and compare the policies on it."""
    day = trading_day(str(point["shape"]), seed=scale.seed)
    counted = count_updates(day).most_common()
    updates = [count for _, count in counted]
    of_the_day: dict[str, Cell] = {
        "symbols": len(updates),
        "busiest": updates[0],
        "slowest": updates[-1],
        "total_updates": sum(updates),
        "share_of_busiest_1_percent": sum(updates[: len(updates) // 100]) / sum(updates),
        "share_of_busiest_10_percent": sum(updates[: len(updates) // 10]) / sum(updates),
        **_staleness(day, scale),
    }
    ranks = np.geomspace(1, len(updates), RANKS).round().astype(int)
    rows: list[Row] = []
    for rank in np.unique(ranks).tolist():
        symbol, count = counted[rank - 1]
        rows.append({**point, "rank": rank, "symbol": symbol, "updates": count, **of_the_day})
    return rows


def count_updates(day: TraceFile) -> Counter[str]:
    """Send a day through an append queue, and count the updates of each symbol that come out."""
    queue = AppendQueue(clock=ManualClock())
    keys = [day.keys[code] for code in day.codes.tolist()]
    queue.enqueue_many(keys, list(range(len(keys))), day.times.tolist())
    counted = Counter(str(update.key) for update in queue.dequeue_many(len(keys)))
    statistics = queue.statistics()
    assert statistics.keys == len(counted), "symbols that never left the queue"
    assert statistics.arrived == counted.total() == len(keys), "updates that never left the queue"
    return counted


def draw(table: Table, figure: Figure) -> None:
    """Draw the updates of the symbols by rank, in both panels the same, on different scales."""
    panels = figure.subplots(1, 2)
    for axes, scale in zip(panels, ("log", "linear"), strict=True):
        for shape, rows in _by_shape(table).items():
            total = number(rows[0], "total_updates")
            label = f"{shape}, {total:,.0f} updates"
            axes.plot(column(rows, "rank"), column(rows, "updates"), ".-", label=label)
        axes.set_xscale(scale)
        axes.set_yscale(scale)
        axes.set_title(f"{scale} scales", fontsize="medium")
        axes.set_xlabel("symbols by rank")
    panels[0].set_ylabel("number of updates")
    panels[1].legend(fontsize="small")


def verdict(table: Table) -> Verdict:
    """Compare the ends with the report's, and say whether IN-PLACE is the best on such a day."""
    days = {shape: rows[0] for shape, rows in _by_shape(table).items()}
    held = all(_has_the_ends(day) for day in days.values())
    is_best = all(_ratio(day, name) >= 1 for day in days.values() for name, _, _ in RUNS)
    counted = "; ".join(_said_of_counts(day) for day in days.values())
    compared = "; ".join(_said_of_staleness(day) for day in days.values())
    return Verdict(
        f"The generated day {'has' if held else 'does not have'} the ends that the report gives: "
        f"{counted}. IN-PLACE {'is' if is_best else 'is not'} the best for it: mean queue "
        f"staleness at load {LOAD:g}, divided by that of IN-PLACE, is {compared} (the bound "
        f"assumes memoryless arrivals).",
        held,
    )


def _staleness(day: TraceFile, scale: Scale) -> dict[str, Cell]:
    """Return the mean queue staleness of each run, and the lower bound."""
    workload = replay(day)
    found: dict[str, Cell] = {}
    for name, policy, is_informed in RUNS:
        run = PolicyRun(
            policy=policy,
            workload=workload,
            cost=LOAD,
            updates=len(workload),
            seed=scale.seed,
            is_informed=is_informed,
        )
        found[name] = run.measure().queue.mean
    return {**found, "lower_bound": staleness_lower_bound(workload.rates, LOAD)}


def _by_shape(table: Table) -> dict[str, list[Row]]:
    return {str(row["shape"]): where(table, shape=row["shape"]) for row in table}


def _has_the_ends(day: Row) -> bool:
    ends = number(day, "busiest"), number(day, "slowest")
    return number(day, "symbols") >= SYMBOLS and ends == (BUSIEST, SLOWEST)


def _ratio(day: Row, name: str) -> float:
    """Return the staleness of a run, or the bound, over that of IN-PLACE."""
    return number(day, name) / number(day, "in_place")


def _said_of_counts(day: Row) -> str:
    shares = [100 * number(day, f"share_of_busiest_{percent}_percent") for percent in (1, 10)]
    return (
        f"{day['shape']}, {day['symbols']:,} symbols with {day['busiest']:,} to {day['slowest']:,} "
        f"updates, {day['total_updates']:,} in all, {shares[0]:.0f} % of them of the busiest 1 % "
        f"of symbols and {shares[1]:.0f} % of the busiest 10 %"
    )


def _said_of_staleness(day: Row) -> str:
    names = (*(name for name, _, _ in RUNS), "lower_bound")
    ratio = {name: f"{_ratio(day, name):.2f}" for name in names}
    return (
        f"for {day['shape']} {ratio['linecutting']} with LINECUTTING "
        f"({ratio['linecutting_true_rates']} with known rates), {ratio['index']} with the index "
        f"({ratio['index_true_rates']}), and {ratio['lower_bound']} the lower bound"
    )


EXPERIMENT: Final = Experiment(
    name="8",
    title="Updates per stock symbol in a day (generated)",
    claim=(
        "In a trading day more than 3,000 symbols are updated, the most active 4,305 times and the "
        "least active once. Is IN-PLACE still the best for such non-uniform frequencies?"
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
