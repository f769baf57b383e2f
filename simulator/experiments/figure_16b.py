"""Figure 16b: how much space is held, over the skew of the update rates.

The report (section 7.3): naive memory keeps the locations of all keys blocked, while on-demand
paging releases what was freed; with skew, the queue is smaller on average than with uniform rates.

It averages over runs, of which it says no more; here the mean over loads is drawn, and the least
and most of them. What else was chosen is in `memory_runs`. What on-demand paging saves by whole
pages depends on their size: of pages that hold most of the keys, there is little to give back, and
with 64 tuples a page the saving hardly grows with skew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import memory_runs
from .experiment import Experiment, Point, Scale, Table, Verdict
from .memory_panels import draw_panels
from .memory_runs import USAGE
from .memory_verdicts import SKEW, judge_usage

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(point: Point, scale: Scale) -> Table:
    """Measure the usage of each memory."""
    return memory_runs.measure(point, scale, USAGE)


def draw(table: Table, figure: Figure) -> None:
    """Draw it over theta."""
    draw_panels(table, figure, axis=SKEW, metric=USAGE)


def verdict(table: Table) -> Verdict:
    """Say how much less on-demand paging holds, and what skew does to that."""
    return judge_usage(table, SKEW)


EXPERIMENT: Final = Experiment(
    name="16b",
    title="Memory usage over the skew",
    claim=(
        "The naive approach keeps the locations of all keys blocked; on-demand paging holds less, "
        "the more so the more the update rates are skewed."
    ),
    points=memory_runs.points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
