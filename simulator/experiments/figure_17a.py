"""Figure 17a: how much of the space held is of use, over the load.

The report (section 7.3): on-demand paging has 1; the effective usage of the naive approach is low
at small loads, and improves as the time between two dequeues increases.

It averages over runs with different distributions: here those of Figure 16, of which the least and
most are drawn, too. What else was chosen is in `memory_runs`. On-demand paging has its 1 by tuple
only: counted in whole pages, the page size decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import memory_runs
from .experiment import Experiment, Point, Scale, Table, Verdict
from .memory_panels import draw_panels
from .memory_runs import EFFECTIVE_USAGE
from .memory_verdicts import LOAD, judge_effective_usage

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(point: Point, scale: Scale) -> Table:
    """Measure the effective usage of each memory."""
    return memory_runs.measure(point, scale, EFFECTIVE_USAGE)


def draw(table: Table, figure: Figure) -> None:
    """Draw it over the load."""
    draw_panels(table, figure, axis=LOAD, metric=EFFECTIVE_USAGE)


def verdict(table: Table) -> Verdict:
    """Say whether on-demand paging has 1 everywhere, and what load does to naive memory."""
    return judge_effective_usage(table, LOAD)


EXPERIMENT: Final = Experiment(
    name="17a",
    title="Effective memory usage over the load",
    claim=(
        "On-demand paging uses all of the space that it has allocated, at every load; the naive "
        "approach uses little of it at small loads, and more as the load increases."
    ),
    points=memory_runs.points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
