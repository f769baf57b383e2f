"""Figure 7a: append queues against update queues, a single key.

The report (section 5.2) compares the mean staleness of an append queue, plain and with random load
shedding, with that of the update queues FIFO and IN-PLACE; the baseline update queues already are
significantly better. With one key the two are the same: at most one update waits, the newest.

What the report is silent on, and what was chosen, `append_against_update` says. With an update at
each tick and a whole load, the cycle of an update queue can be told by hand: its staleness is 1.5
times the load less 1, and that of AQ half of the run times 1 - 1 / load.
"""

from __future__ import annotations

from typing import Final

from .append_against_update import draw, judge, measure_queues, points
from .experiment import Experiment, Point, Scale, Table, Verdict

KEYS: Final = 1


def measure(point: Point, scale: Scale) -> Table:
    """Run all queues on the updates of one key."""
    return measure_queues(KEYS, point, scale)


def verdict(table: Table) -> Verdict:
    """Say how much fresher the update queues are, and whether both of them are the same."""
    return judge(table, keys=KEYS)


EXPERIMENT: Final = Experiment(
    name="7a",
    title="Append queue and update queue, a single key",
    claim=(
        "Update queues significantly improve on the average staleness of an append queue, with or "
        "without random load shedding; with a single key, FIFO and IN-PLACE are the same."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
