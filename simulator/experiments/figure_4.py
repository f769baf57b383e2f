"""Figure 4: application and queue staleness of one key, and the area between them.

The report, section 5.1: over an iteration (a key is enqueued, waits, is dequeued, and is delivered
after its processing cost) the area under application staleness exceeds the area under queue
staleness by

    Δ = (wait + cost)² / 2 - wait² / 2 - O = wait * cost + cost² / 2 - O

where the overlap O belongs to the next iteration, which may begin during the processing. As
0 <= O <= cost² / 2, also wait * cost <= Δ <= wait * cost + cost² / 2. For wait and cost the report
uses the means, and it says that the cost is a constant.

An iteration begins when an update finds no other update of its key waiting:

```
 enqueue ──── wait ────▶ dequeue ──── cost ────▶ delivery
                                 ▲ the first update of the next iteration may come here
```

Until the delivery the application is stale since the enqueue, and the queue is until the dequeue.
If the next iteration begins before the delivery, its own staleness by then, a triangle under the
line, counts for the next one: that is the overlap O.

The report does not say which arrivals it draws. Here they are memoryless and the scheduler is
IN-PLACE. The plot shows the beginning of a run for one of two keys at load 2, so that some
iterations overlap and others do not. The bounds are also checked over every iteration of 1, 3 and
10 keys, at loads below and above 1. It matters for means that the cost is constant. In runs with
random, exponential costs each iteration is within the bounds of its own wait and cost, but the mean
Δ may be above the upper bound, because the mean of cost² is more than the square of the mean.

Rows: `run` has the means over all iterations of all keys, and how many iterations were within the
bounds of their own wait and cost. `iteration` (at the time of its enqueue), `arrival`,
`application` and `queue` (the corners of the lines) are drawn, for key 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from upstream.events import EventKind

from ..model.event_log import EventLog
from ..model.policy_run import PolicyRun
from ..model.staleness_lines import Segment, corners, staleness_lines
from ..workloads.sources import Poisson
from ..workloads.workload import uniform
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of a key, and its measurements."""

    enqueue: float
    dequeue: float
    delivery: float
    difference: float
    """Δ: how much more area it adds under application staleness than under queue staleness."""
    overlap: float
    """O: the part of the area up to its delivery that counts for the next iteration."""

    @property
    def wait(self) -> float:
        """The time in the queue."""
        return self.dequeue - self.enqueue

    @property
    def cost(self) -> float:
        """The time in process."""
        return self.delivery - self.dequeue


def iterations(application: Sequence[Segment], queue: Sequence[Segment]) -> Iterator[Iteration]:
    """Divide the two lines of a key into its iterations, without an unfinished one at the end.

    The lines are those of an update queue with one server: from each arrival that finds no other
    waiting both count, in the same order.
    """
    waits = (segment for segment in queue if segment.since is not None)
    for segment, following in pairwise(application):
        if segment.since is None:
            continue
        wait = next(waits)
        assert wait.since == segment.since, "lines that count from different arrivals"
        overlap = following.rises_from**2 / 2.0
        before = segment.rises_from**2 / 2.0
        yield Iteration(
            enqueue=segment.since,
            dequeue=wait.end,
            delivery=segment.end,
            difference=before + segment.area - overlap - wait.area,
            overlap=overlap,
        )


DRAWN: Final[Point] = {"keys": 2, "load": 2.0, "costs": "fixed"}
DRAWN_KEY: Final = 0
DRAWN_ITERATIONS: Final = 5
SHADED: Final = 2
"""Which of the drawn iterations has its Δ marked: the middle one."""
ROUNDING: Final = 1e-6
COLUMNS: Final = (
    *("what", "keys", "load", "costs", "time", "staleness"),
    *("wait", "cost", "difference", "overlap", "iterations", "within_bounds"),
)
_NO_CELLS: Final[Row] = dict.fromkeys(COLUMNS, "")
"""No kind of row has something in every column."""


def points(scale: Scale) -> list[Point]:
    """Return the run that is drawn, and others with more keys, other loads and random costs."""
    keys, loads = ((1, 10), (2.0,)) if scale.is_quick else ((1, 3, 10), (0.5, 2.0, 10.0))
    found = [DRAWN]
    found += [{"keys": count, "load": load, "costs": "fixed"} for count in keys for load in loads]
    found += [{"keys": count, "load": 2.0, "costs": "exponential"} for count in keys]
    return found


def measure(point: Point, scale: Scale) -> Table:
    """Run it, take its iterations from the log, and keep the beginning if it is to be drawn."""
    run = PolicyRun(
        policy="in-place",
        workload=Poisson(uniform(int(point["keys"]))),
        cost=float(point["load"]),
        cost_distribution=str(point["costs"]),
        updates=scale.choose(full=100_000, quick=6_000),
        seed=scale.seed,
        is_logged=True,
    )
    simulation, subscriber = run.set_up()
    simulation.run(run.updates)
    log = subscriber.log
    assert log is not None
    application = staleness_lines(log, of="application", end=simulation.now)
    queue = staleness_lines(log, of="queue", end=simulation.now)
    found = {key: list(iterations(application[key], queue[key])) for key in application}
    rows = [_run_row(point, [one for key in found for one in found[key]])]
    if point == DRAWN:
        rows += _beginning(log, found[DRAWN_KEY][:DRAWN_ITERATIONS])
    return rows


def _run_row(point: Point, done: list[Iteration]) -> Row:
    return {
        **_NO_CELLS,
        **point,
        "what": "run",
        "wait": _mean([one.wait for one in done]),
        "cost": _mean([one.cost for one in done]),
        "difference": _mean([one.difference for one in done]),
        "overlap": _mean([one.overlap for one in done]),
        "iterations": len(done),
        "within_bounds": sum(is_within(one) for one in done),
    }


def is_within(one: Iteration) -> bool:
    """Tell whether wait * cost <= Δ <= wait * cost + cost² / 2."""
    over = one.difference - one.wait * one.cost
    return -ROUNDING <= over <= one.cost**2 / 2.0 + ROUNDING


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _beginning(log: EventLog, done: list[Iteration]) -> list[Row]:
    """Return the lines of the drawn key until the last of some iterations is delivered."""
    end = done[-1].delivery
    events = [event for event in log if event.key == DRAWN_KEY and event.time <= end]
    rows: list[Row] = []
    for of in ("application", "queue"):
        [line] = staleness_lines(events, of=of, end=end).values()
        rows += [_drawn_row(of, time=time, staleness=height) for time, height in corners(line)]
    arrivals = [event for event in events if event.kind is EventKind.ARRIVAL]
    rows += [_drawn_row("arrival", time=event.time) for event in arrivals]
    return rows + [_iteration_row(one) for one in done]


def _drawn_row(what: str, **cells: float) -> Row:
    return {**_NO_CELLS, **DRAWN, "what": what, **cells}


def _iteration_row(one: Iteration) -> Row:
    return _drawn_row(
        "iteration",
        time=one.enqueue,
        wait=one.wait,
        cost=one.cost,
        difference=one.difference,
        overlap=one.overlap,
        iterations=1,
        within_bounds=int(is_within(one)),
    )


def draw(table: Table, figure: Figure) -> None:
    """Draw both lines, the three instants and the waits, and mark the Δ of one iteration."""
    axes = figure.subplots()
    done = where(table, what="iteration")
    for of, style in (("application", "C0-"), ("queue", "C1--")):
        line = where(table, what=of)
        axes.plot(column(line, "time"), column(line, "staleness"), style, label=f"{of} staleness")
    arrivals = column(where(table, what="arrival"), "time")
    axes.plot(arrivals, [0.0] * len(arrivals), "|", color="grey", label="overwriting update")
    _draw_instants(axes, done)
    for count, row in enumerate(done, start=1):
        start, wait, cost = _lengths(row)
        _draw_length(axes, f"wait$_{count}$", start=start, length=wait, height=-0.5)
        _draw_length(axes, "cost", start=start + wait, length=cost, height=-1.3)
    _shade(axes, done[SHADED])
    axes.axhline(0.0, color="black", linewidth=0.8, zorder=0)
    axes.set_ylim(bottom=-2.1)
    axes.set_yticks(range(0, int(axes.get_ylim()[1]) + 1, 2))
    axes.set_xlabel("time (number of updates)")
    axes.set_ylabel("staleness (number of updates)")
    axes.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, -0.14))
    figure.set_size_inches(9.0, 5.2)


def _draw_instants(axes: Axes, done: list[Row]) -> None:
    """Mark on the axis when the key is enqueued, dequeued and delivered."""
    starts, waits = np.array(column(done, "time")), np.array(column(done, "wait"))
    ends = starts + waits + np.array(column(done, "cost"))
    for name, style, times in (
        ("enqueue", "k^", starts),
        ("dequeue", "ko", starts + waits),
        ("deliver", "kv", ends),
    ):
        axes.plot(times, np.zeros(len(times)), style, label=name, markersize=5)


def _draw_length(axes: Axes, name: str, *, start: float, length: float, height: float) -> None:
    """Name a stretch of time, below the axis."""
    bar = {"arrowstyle": "|-|", "mutation_scale": 3, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(start, height), xytext=(start + length, height), arrowprops=bar)
    axes.text(start + length / 2.0, height - 0.15, name, ha="center", va="top", fontsize="small")


def _shade(axes: Axes, row: Row) -> None:
    """Fill the area Δ of an iteration with dots, and name the overlap O beside it."""
    start, wait, cost = _lengths(row)
    dequeue, deliver = start + wait, start + wait + cost
    overlap = float(np.sqrt(2.0 * number(row, "overlap")))
    times = (start, deliver, deliver, deliver - overlap, dequeue, dequeue)
    heights = (0.0, wait + cost, overlap, 0.0, 0.0, wait)
    axes.fill(times, heights, facecolor="none", hatch="..", edgecolor="grey", linewidth=0)
    _write(axes, deliver - cost / 2.0, wait + cost / 4.0, "Δ")
    if overlap:
        _write(axes, deliver - overlap / 4.0, overlap / 4.0, "O")


def _write(axes: Axes, time: float, height: float, text: str) -> None:
    axes.text(time, height, text, ha="center", va="center", backgroundcolor="white")


def _lengths(row: Row) -> tuple[float, float, float]:
    return number(row, "time"), number(row, "wait"), number(row, "cost")


def verdict(table: Table) -> Verdict:
    """Say for how many iterations the bounds held, and how random costs change the means."""
    runs = where(table, what="run")
    done = int(sum(column(runs, "iterations")))
    within = int(sum(column(runs, "within_bounds")))
    fixed, random = where(runs, costs="fixed"), where(runs, costs="exponential")
    overlaps = [number(row, "overlap") / (number(row, "cost") ** 2 / 2.0) for row in fixed]
    beyond = [row for row in random if _over(row) > 1.0]
    return Verdict(
        f"wait*cost <= Δ <= wait*cost + cost²/2 held over {within:,} of {done:,} iterations in "
        f"{len(runs)} runs; with constant cost the mean overlap is {min(overlaps):.2f} to "
        f"{max(overlaps):.2f} of its largest, cost²/2. If costs are random, and the mean wait and "
        f"cost put in, the mean Δ is above the upper bound in {len(beyond)} of {len(random)} runs: "
        f"it exceeds wait*cost by up to {max(map(_over, random)):.2f} times cost²/2.",
        done > 0 and within == done,
    )


def _over(row: Row) -> float:
    """Return by how much a mean Δ exceeds wait * cost, as a part of cost² / 2."""
    wait, cost = number(row, "wait"), number(row, "cost")
    return (number(row, "difference") - wait * cost) / (cost**2 / 2.0)


EXPERIMENT: Final = Experiment(
    name="4",
    title="Application staleness vs. queue staleness",
    claim=(
        "Over an iteration the area under application staleness exceeds that under queue staleness "
        "by wait*cost at least and wait*cost + cost²/2 at most: the difference depends on the wait "
        "and the cost alone."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
