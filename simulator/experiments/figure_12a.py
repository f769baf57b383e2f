"""Figure 12a: an execution trace of LAZY windows, with queue and application staleness.

The report (section 6.2.1): one key, windows of size 3 that slide by 1, C_t = 2. The operator
commits to the window that was closed last, and both kinds of staleness count from window ends. I is
a new arrival for the key, U an update of the key while it waits.

As the report draws it, a tuple comes at 1, 2, 3, and so on, and the tuple in the last tick of a
window closes it: [2,5) "closes at time 4". Tuples that close nothing, those at 1 and 2, are marked
with a dash here. Nothing else is open, and nothing is drawn at random.
"""

from __future__ import annotations

from typing import Final

from upstream import LazyWindowBuffer

from .experiment import Experiment, Point, Scale, Table, Verdict
from .window_trace import Falls, draw_trace, judge, trace_run

TICKS: Final = 16
REPORTED: Final[Falls] = ((9, 5), (15, 5))
"""When application staleness falls in the report, and to what."""


def points(_scale: Scale) -> list[Point]:
    """Return the only point."""
    return [{"semantics": "lazy"}]


def measure(_point: Point, _scale: Scale) -> Table:
    """Trace the run."""
    return trace_run(LazyWindowBuffer, ticks=TICKS)


def verdict(table: Table) -> Verdict:
    """Say where application staleness falls."""
    return judge(table, REPORTED)


EXPERIMENT: Final = Experiment(
    name="12a",
    title="Execution trace, LAZY windows",
    claim=(
        "With one key, size 3, slide 1 and C_t = 2, LAZY delivers [1,4) at 9 and [7,10) at 15, and "
        "application staleness falls to 5 both times."
    ),
    points=points,
    measure=measure,
    draw=draw_trace,
    verdict=verdict,
)
