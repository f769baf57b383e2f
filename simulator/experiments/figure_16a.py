"""Figure 16a: how much of the space held is of use, over the skew of the update rates.

The report (section 7.3): a value of 1 means that on-demand paging introduces no dirty locations,
whatever the distribution; with skew, the naive approach uses its space less and less, since it
keeps locations for keys that update slowly.

It averages over runs, of which it says no more; here the mean over loads is drawn, and the least
and most of them. What else was chosen is in `memory_runs`. On-demand paging has its 1 by tuple
only: counted in whole pages, the page size decides, and with 64 tuples a page skew lowers it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import memory_runs
from .experiment import Experiment, Point, Scale, Table, Verdict
from .memory_panels import draw_panels
from .memory_runs import EFFECTIVE_USAGE
from .memory_verdicts import SKEW, judge_effective_usage

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(point: Point, scale: Scale) -> Table:
    """Measure the effective usage of each memory."""
    return memory_runs.measure(point, scale, EFFECTIVE_USAGE)


def draw(table: Table, figure: Figure) -> None:
    """Draw it over theta."""
    draw_panels(table, figure, axis=SKEW, metric=EFFECTIVE_USAGE)


def verdict(table: Table) -> Verdict:
    """Say whether on-demand paging has 1 everywhere, and what skew does to naive memory."""
    return judge_effective_usage(table, SKEW)


EXPERIMENT: Final = Experiment(
    name="16a",
    title="Effective memory usage over the skew",
    claim=(
        "On-demand paging uses all of the space that it has allocated, for every distribution; "
        "the naive approach uses less of it, the more the update rates are skewed."
    ),
    points=memory_runs.points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
