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
from .memory_verdicts import LOAD, judge_usage

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(point: Point, scale: Scale) -> Table:
    """Measure the usage of each memory."""
    return memory_runs.measure(point, scale, USAGE)


def draw(table: Table, figure: Figure) -> None:
    """Draw it over the load."""
    draw_panels(table, figure, axis=LOAD, metric=USAGE)


def verdict(table: Table) -> Verdict:
    """Say how much less on-demand paging holds, and what load does to that."""
    return judge_usage(table, LOAD)


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
