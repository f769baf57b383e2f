"""Figure 12b: an execution trace of EAGER windows, with queue and application staleness.

The report (section 6.2.2): one key, windows of size 3 that slide by 1, C_t = 2. The operator
commits to the window that was started last, and processes its tuples as they come. Queue staleness
counts from window starters, application staleness from window closers; so they differ in size, but
rise and fall because of the same windows. Its example: the key waits from 2 on, when another window
starts, and the result of the first window, given at 7, was invalidated at 4, when that one closed.

As in Figure 12a a tuple comes at 1, 2, 3, and so on, and the tuple in the last tick of a window
closes it. Nothing else is open, and nothing is drawn at random.
"""

from __future__ import annotations

from typing import Final

from upstream import EagerWindowBuffer

from .experiment import Experiment, Point, Scale, Table, Verdict
from .window_trace import Falls, draw_trace, judge, trace_run

TICKS: Final = 14
REPORTED: Final[Falls] = ((7, 3), (13, 3))
"""When application staleness falls in the report, and to what."""


def points(_scale: Scale) -> list[Point]:
    """Return the only point."""
    return [{"semantics": "eager"}]


def measure(_point: Point, _scale: Scale) -> Table:
    """Trace the run."""
    return trace_run(EagerWindowBuffer, ticks=TICKS)


def verdict(table: Table) -> Verdict:
    """Say where application staleness falls."""
    return judge(table, REPORTED)


EXPERIMENT: Final = Experiment(
    name="12b",
    title="Execution trace, EAGER windows",
    claim=(
        "With one key, size 3, slide 1 and C_t = 2, EAGER delivers [1,4) at 7 and [7,10) at 13, "
        "and application staleness falls to 3 both times."
    ),
    points=points,
    measure=measure,
    draw=draw_trace,
    verdict=verdict,
)
