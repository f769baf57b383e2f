"""Figure 7b: append queues against update queues, several keys.

The report (section 5.2) compares the mean staleness of an append queue, plain and with random load
shedding, with that of the update queues FIFO and IN-PLACE. It proves that IN-PLACE is the best for
keys that update equally often, so it has to be at most FIFO.

The report is silent on the number of keys of this figure; there are 10, as in its figures 5b and 9,
that update equally often. What else it is silent on, and what was chosen, `append_against_update`
says. With several keys shedding loses more than with one, as it drops at random the only waiting
update of a key, too.
"""

from __future__ import annotations

from typing import Final

from .append_against_update import draw, judge, measure_queues, points
from .experiment import Experiment, Point, Scale, Table, Verdict

KEYS: Final = 10


def measure(point: Point, scale: Scale) -> Table:
    """Run all queues on the updates of all keys."""
    return measure_queues(KEYS, point, scale)


def verdict(table: Table) -> Verdict:
    """Say how much fresher the update queues are, and whether IN-PLACE is the better of them."""
    return judge(table, keys=KEYS)


EXPERIMENT: Final = Experiment(
    name="7b",
    title="Append queue and update queue, several keys",
    claim=(
        "Update queues significantly improve on the average staleness of an append queue, with or "
        "without random load shedding; with several keys, IN-PLACE is at most as stale as FIFO."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
