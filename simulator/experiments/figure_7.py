"""Figure 7: append queues against update queues, with a single key (a) and with several (b).

The report (section 5.2) compares the mean staleness, over the load factor, of an append queue (AQ),
of one with random load shedding (AQ-RLS), and of the update queues UQ-FIFO and UQ-INPLACE. Its
finding is that the update queues improve average staleness significantly. Below overload, it says
elsewhere (section 1), all of them are about the same. With one key both update queues are the same:
at most one update waits, the newest. The report proves that IN-PLACE is the best for keys that
update equally often, so with several keys it has to be at most FIFO.

The report does not say the following. Each point is measured here rather than settled:

- How many keys Figure 7b has. Here there are 10 that update equally often, as in figures 5b and 9.
- How updates arrive. One at each tick is the report's model, which its proof for IN-PLACE uses;
  memoryless arrivals have a second panel. They differ up to load 1 and little above it. With one
  key, an update at each tick and a whole load, the cycle of an update queue can be computed by
  hand: its staleness is 1.5 times the load less 1, and that of AQ half of the run times
  1 - 1 / load.
- How many updates there are. AQ never catches up, so its staleness grows in proportion to the
  length of the run, and no single figure describes it: there are two lengths. Under overload, the
  staleness of the other queues does not depend on the length.
- How much is shed. Here a queue of bounded capacity drops, when it is full, a waiting update or the
  new one at random. Its staleness depends on the capacity, so there are 1, 10 and 100. Except near
  load 1, a capacity of 1 is best for shedding; with one key such a queue is nearly an update queue,
  which keeps the newest always and not by chance. With several keys shedding loses more, because
  it may drop the only waiting update of a key.

Staleness is that of the application. Queue staleness is a column only, because it flatters
shedding: a dropped update no longer waits, although the application still lacks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ..model.policy_run import PolicyRun
from ..workloads.sources import FixedInterval, Poisson
from ..workloads.workload import Floats, Workload, uniform
from .experiment import (
    Cell,
    Experiment,
    Point,
    Row,
    Scale,
    Table,
    Verdict,
    column,
    grid,
    number,
    where,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOADS: Final = (0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5, 7, 10)
QUICK_LOADS: Final = (0.75, 2, 5)
REPORTED_LOAD: Final = 5
"""The load that the report names in section 5.3, and at which the verdict gives figures."""
ARRIVALS: Final[dict[str, Callable[[Floats], Workload]]] = {
    "at each tick": FixedInterval,
    "memoryless": Poisson,
}
REPORTED_ARRIVALS: Final = "at each tick"
SHORTER: Final = 10
"""How many times shorter the other length of a run is."""


class QueueKind(NamedTuple):
    """A series of the figure."""

    label: str
    policy: str
    capacity: int | None
    line: str
    """How it is drawn."""


APPEND: Final = QueueKind("AQ", "append", None, "C0s-")
SHEDDING: Final = (
    QueueKind("AQ-RLS (capacity 1)", "append-shedding", 1, "C1v:"),
    QueueKind("AQ-RLS (capacity 10)", "append-shedding", 10, "C1^-"),
    QueueKind("AQ-RLS (capacity 100)", "append-shedding", 100, "C1d--"),
)
FIFO: Final = QueueKind("UQ-FIFO", "fifo", None, "C2o-")
IN_PLACE: Final = QueueKind("UQ-INPLACE", "in-place", None, "C3x-")
QUEUES: Final = (APPEND, *SHEDDING, FIFO, IN_PLACE)


def points(scale: Scale) -> list[Point]:
    """Return every way of arriving with every load."""
    loads = QUICK_LOADS if scale.is_quick else LOADS
    return grid(arrivals=ARRIVALS, load=loads)


def measure(point: Point, scale: Scale, *, keys: int) -> list[Row]:
    """Run all queues on the same arrivals, for two lengths of the run."""
    longest = scale.choose(full=40_000, quick=3_000)
    workload = ARRIVALS[str(point["arrivals"])](uniform(keys))
    rows: list[Row] = []
    for updates in (longest // SHORTER, longest):
        for queue in QUEUES:
            measured = PolicyRun(
                policy=queue.policy,
                workload=workload,
                cost=float(point["load"]),
                updates=updates,
                seed=scale.seed,
                capacity=queue.capacity,
            ).measure()
            found: dict[str, Cell] = {
                "updates": updates,
                "queue": queue.label,
                "application_staleness": measured.application.mean,
                "queue_staleness": measured.queue.mean,
            }
            rows.append({**point, **found})
    return rows


def draw(table: Table, figure: Figure) -> None:
    """Draw the staleness of the long runs over the load; of AQ, that of the short ones as well."""
    shortest, longest = _lengths(table)
    panels = figure.subplots(1, len(ARRIVALS), sharey=True, squeeze=False)[0]
    for axes, arrivals in zip(panels, ARRIVALS, strict=True):
        rows = where(table, arrivals=arrivals)
        short = APPEND._replace(line="C0s:")
        _draw_line(axes, rows, short, updates=shortest, label=f"AQ, {shortest:,} updates")
        for queue in QUEUES:
            label = f"AQ, {longest:,} updates" if queue is APPEND else queue.label
            _draw_line(axes, rows, queue, updates=longest, label=label)
        axes.set_yscale("log")
        axes.set_title(f"arrivals {arrivals}", fontsize="medium")
        axes.set_xlabel("load factor")
    panels[0].set_ylabel("mean staleness (in updates)")
    panels[-1].legend(fontsize="x-small", loc="lower right")


def judge(table: Table, *, keys: int) -> Verdict:
    """Say whether the update queues are fresher at every overload, and by which factor."""
    overloads = {at: found for at, found in _by_setting(table).items() if at.load > 1}
    least, where_least = min(
        (
            found[queue.label] / max(found[FIFO.label], found[IN_PLACE.label]),
            f"{queue.label} at {at}",
        )
        for at, found in overloads.items()
        for queue in (APPEND, *SHEDDING)
    )
    have = "have" if least > 1 else "do not have"
    order = [found[IN_PLACE.label] / found[FIFO.label] for found in overloads.values()]
    is_in_order, ordered = _schedulers(order, keys)
    return Verdict(
        f"The update queues {have} the lower staleness at every load above 1, where the least "
        f"factor is {least:.2f}, of {where_least}. At load {REPORTED_LOAD} {_factors(table)} that "
        f"of UQ-INPLACE; {ordered}.",
        least > 1 and is_in_order,
    )


def _schedulers(ratios: list[float], keys: int) -> tuple[bool, str]:
    """Say how IN-PLACE stands to FIFO: the same for a single key, at most that for several."""
    lowest, highest = min(ratios), max(ratios)
    between = f"{lowest:.2f} to {highest:.2f} times"
    if keys == 1:
        is_same = math.isclose(lowest, 1) and math.isclose(highest, 1)
        return is_same, f"with one key IN-PLACE {'is' if is_same else 'is not'} the same as FIFO"
    is_at_most = highest <= 1
    never = "never more" if is_at_most else "sometimes more"
    return is_at_most, f"with {keys} keys IN-PLACE has {never} than FIFO ({between} its staleness)"


class _Setting(NamedTuple):
    """What all queues were measured under."""

    arrivals: str
    load: float
    updates: int

    def __str__(self) -> str:
        return f"load {self.load:g}, arrivals {self.arrivals}"


def _by_setting(table: Table) -> dict[_Setting, dict[str, float]]:
    """Return the application staleness of all queues for each setting."""
    found: dict[_Setting, dict[str, float]] = {}
    for row in table:
        load, updates = number(row, "load"), int(number(row, "updates"))
        at = _Setting(str(row["arrivals"]), load, updates)
        found.setdefault(at, {})[str(row["queue"])] = number(row, "application_staleness")
    return found


def _factors(table: Table) -> str:
    """Say how many times staler than UQ-INPLACE the others are at the report's load."""
    short, long = (
        _by_setting(table)[_Setting(REPORTED_ARRIVALS, REPORTED_LOAD, updates)]
        for updates in _lengths(table)
    )
    times = {label: staleness / long[IN_PLACE.label] for label, staleness in long.items()}
    others = ", ".join(f"{queue.label} {times[queue.label]:.2f}" for queue in (*SHEDDING, FIFO))
    few, many = _lengths(table)
    short_times = short[APPEND.label] / short[IN_PLACE.label]
    return (
        f"AQ has {times[APPEND.label]:,.0f} times (after {many:,} updates; {short_times:,.0f} "
        f"after {few:,}, as it never catches up), {others} times"
    )


def _lengths(table: Table) -> tuple[int, int]:
    """Return how many updates the short runs had, and the long ones."""
    lengths = column(table, "updates")
    return int(min(lengths)), int(max(lengths))


def _draw_line(axes: Axes, rows: Table, queue: QueueKind, *, updates: int, label: str) -> None:
    line = where(rows, queue=queue.label, updates=updates)
    axes.plot(
        column(line, "load"),
        column(line, "application_staleness"),
        queue.line,
        markerfacecolor="none",
        label=label,
    )


def _figure(name: str, *, keys: int, title: str, claim: str) -> Experiment:
    return Experiment(
        name=name,
        title=title,
        claim=claim,
        points=points,
        measure=partial(measure, keys=keys),
        draw=draw,
        verdict=partial(judge, keys=keys),
    )


_CLAIM: Final = (
    "Update queues significantly improve on the average staleness of an append queue, with or "
    "without random load shedding; "
)
FIGURES: Final = (
    _figure(
        "7a",
        keys=1,
        title="Append queue and update queue, a single key",
        claim=f"{_CLAIM}with a single key, FIFO and IN-PLACE are the same.",
    ),
    _figure(
        "7b",
        keys=10,
        title="Append queue and update queue, several keys",
        claim=f"{_CLAIM}with several keys, IN-PLACE is at most as stale as FIFO.",
    ),
)
