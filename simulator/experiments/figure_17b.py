"""Figure 17b: how much space is held, over the load.

The report (section 7.3): naive memory keeps the locations of all keys blocked, while on-demand
paging releases what was freed; with more load, more keys update between two dequeues.

It averages over runs with different distributions: here those of Figure 16, of which the least and
most are drawn, too. What else was chosen is in `memory_runs`. What on-demand paging saves by whole
pages depends on their size: of pages that hold most of the keys, there is little to give back, and
at the highest loads next to nothing with any size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import memory_runs
from .experiment import Experiment, Point, Scale, Table, Verdict
from .memory_panels import draw_panels
from .memory_runs import USAGE
from .memory_tables import Means, by_page, mean_by, rises, saving

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(point: Point, scale: Scale) -> Table:
    """Measure the usage of each memory."""
    return memory_runs.measure(point, scale, USAGE)


def draw(table: Table, figure: Figure) -> None:
    """Draw it over the load."""
    draw_panels(table, figure, x="load", x_label="load factor", metric=USAGE)


def verdict(table: Table) -> Verdict:
    """Say how much less on-demand paging holds, and what load does to that."""
    on_demand = mean_by(table, "load", "usage", memory="on-demand")
    naive = mean_by(table, "load", "usage", memory="naive")
    saved = saving(table, "load", "usage")
    is_less = min(saved.values()) > 0.0
    is_as_claimed = rises(on_demand)
    said = "rises" if is_as_claimed else "does not always rise"
    found = [
        f"{on_demand[value]:.1f} tuples instead of {naive[value]:.1f} at load {value:g} "
        f"({saved[value]:.0%} less)"
        for value in (min(saved), max(saved))
    ]
    return Verdict(
        f"On-demand paging holds {'' if is_less else 'not always '}less than naive memory, and "
        f"its usage {said} with the load: {' and '.join(found)}. Counted in whole pages it "
        f"saves {by_page(table, _saved_in_whole_pages, '.0%')}.",
        is_less and is_as_claimed,
    )


def _saved_in_whole_pages(rows: Table) -> Means:
    return saving(rows, "load", "page_usage")


EXPERIMENT: Final = Experiment(
    name="17b",
    title="Memory usage over the load",
    claim=(
        "The naive approach keeps the locations of all keys blocked; on-demand paging holds less, "
        "most of all at small loads."
    ),
    points=memory_runs.points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
