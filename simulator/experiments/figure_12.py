"""Figure 12: execution traces of LAZY (a) and EAGER windows (b), with both kinds of staleness.

The report (sections 6.2.1 and 6.2.2): one key, windows of size 3 that slide by 1, C_t = 2. A tuple
arrives at 1, 2, 3, and so on; I is a new arrival for the key, U an update of the key while it
waits. The tuple in the last tick of a window closes it: [2,5) "closes at time 4". In Figure 12a
tuples that close nothing, those at 1 and 2, are marked with a dash here. Nothing else is left open,
and nothing is random.

With LAZY the operator commits to the window that was closed last, and both kinds of staleness count
from window ends. With EAGER it commits to the window that was started last and processes its tuples
as they come. Queue staleness then counts from window starters and application staleness from window
closers; so they differ in size, but rise and fall because of the same windows. The report's
example: the key waits from 2 on, when another window starts, and the result of the first window,
given at 7, was invalidated at 4, when that window closed.

A row is a tick. At one moment a tuple arrives first, then a result is delivered, then a tuple
leaves; staleness is given before and after all of them. It is computed from what the queue has
integrated: from one tick to the next it is 0, or it rises by 1.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from upstream import (
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    WindowBuffer,
    WindowQueue,
    WindowSpecification,
)

from ..model.simulation import Simulation
from ..model.subscriber import WindowTrace
from ..workloads.recorded import Recorded
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOWS: Final = WindowSpecification(size=3, slide=1, tick=1)
COST: Final = 2
"""What a tuple costs, in ticks: C_t."""
KINDS: Final = ("queue", "application")

Falls = tuple[tuple[float, float], ...]
"""The times when application staleness falls, each with the value that it falls to."""


class _Sampled:
    """A queue of one key, looked at after each arrival."""

    def __init__(self, simulation: Simulation, queue: WindowQueue) -> None:
        self._simulation = simulation
        self._queue = queue
        self._first: float | None = None
        self._superseded = 0
        self.arrivals: list[str] = []
        """I for an update of a key that does not wait, U of one that does, as in the report."""
        self.areas: dict[str, list[float]] = {kind: [] for kind in KINDS}
        """The integral of each staleness since the first arrival."""

    def sample(self) -> None:
        """Note what happened to the newest arrival, and the staleness until now."""
        queue, now = self._queue, self._simulation.now
        self._first = now if self._first is None else self._first
        superseded = queue.statistics().windows.superseded
        is_new = bool(len(queue))
        self.arrivals.append("U" if superseded > self._superseded else "I" if is_new else "-")
        self._superseded = superseded
        for kind in KINDS:
            [mean] = queue.staleness_by_key(kind).values()
            self.areas[kind].append(mean * (now - self._first))

    def sides(self, kind: str) -> list[tuple[float, float]]:
        """Return staleness before and after each arrival but the last."""
        befores, afters = [0.0], []
        for area, following in pairwise(self.areas[kind]):
            middle = round(following - area, 6)
            assert middle == 0 or middle >= 0.5, "staleness changes between ticks"
            afters.append(middle - 0.5 if middle else 0.0)
            befores.append(middle + 0.5 if middle else 0.0)
        return list(zip(befores, afters, strict=False))


def trace_run(buffer: type[WindowBuffer], *, ticks: int) -> Table:
    """Run one key with a tuple at each of the ticks 1, 2, 3, ...; return a row for each."""
    times = [float(tick) for tick in range(1, ticks + 2)]
    simulation = Simulation(Recorded(["k"], times=times, codes=[0] * len(times)), loop="plain")
    queue = WindowQueue(WINDOWS, buffer, InPlaceScheduler(), clock=simulation.clock)
    subscriber = simulation.add_windows("windows", queue, cost=COST, is_logged=True)
    sampled = _Sampled(simulation, queue)
    for _ in times:
        simulation.run(1)
        sampled.sample()
    assert subscriber.trace is not None
    events = _events(subscriber.trace)
    sides = zip(sampled.sides("queue"), sampled.sides("application"), strict=True)
    return [
        {
            "time": time,
            "arrival": arrival,
            **events.get(time, _NOTHING),
            "queue_before": queue_sides[0],
            "queue_after": queue_sides[1],
            "application_before": application_sides[0],
            "application_after": application_sides[1],
        }
        for time, arrival, (queue_sides, application_sides) in zip(
            times, sampled.arrivals, sides, strict=False
        )
    ]


_NOTHING: Final[Row] = {"left": "", "mark": "", "result": ""}


def _events(trace: WindowTrace) -> dict[float, Row]:
    """Return which tuple left at a time, how it was marked, and which window had its result."""
    events: dict[float, Row] = {}
    for time, (update, mark) in trace.left:
        assert update is not None, "no window ends without a tuple here"
        cells = {"left": f"{update.time:g}", "mark": f"{float(mark):g}"}
        events[time] = {**events.get(time, _NOTHING), **cells}
    for time, result in trace.results:
        window = {"result": f"[{result.start:g},{result.end:g})"}
        events[time] = {**events.get(time, _NOTHING), **window}
    return events


def falls(table: Table) -> Falls:
    """Return the times when application staleness falls, and the values that it falls to."""
    return tuple(
        (number(row, "time"), number(row, "application_after"))
        for row in table
        if number(row, "application_after") < number(row, "application_before")
    )


def judge(table: Table, *, expected: Falls) -> Verdict:
    """Compare where application staleness falls with where it does in the report."""
    measured = falls(table)
    held = measured == expected
    reported = "as in the report" if held else f"in the report {_told(expected)}"
    return Verdict(f"Application staleness falls {_told(measured)}, {reported}.", held)


def _told(points: Falls) -> str:
    return " and ".join(f"to {staleness:g} at {time:g}" for time, staleness in points) or "nowhere"


def draw_trace(table: Table, figure: Figure) -> None:
    """Draw the timelines of arrivals, of tuples dequeued, and of results, the first on top."""
    figure.set_size_inches(9.0, 6.0)
    arrivals, dequeues, results = figure.subplots(
        3, 1, sharex=True, gridspec_kw={"height_ratios": (1, 3, 3)}
    )
    _draw_arrivals(table, arrivals)
    _draw_staleness(table, dequeues, "queue")
    for row in table:
        if row["left"] != "":
            _draw_dequeue(row, dequeues)
    _draw_staleness(table, results, "application")
    for row in table:
        if row["result"] != "":
            _draw_result(row, results)
    for axes in (dequeues, results):
        axes.legend(loc="upper left")
    results.set_xlabel("time")


def _draw_arrivals(table: Table, axes: Axes) -> None:
    times = column(table, "time")
    axes.vlines(times, 0.0, 1.0, color="black", linewidth=0.8)
    for row in table:
        axes.text(number(row, "time"), 1.1, str(row["arrival"]), ha="center", va="bottom")
    axes.set(ylabel="arrivals", ylim=(0.0, 2.2), xticks=times, yticks=[], xlabel="time")
    axes.xaxis.set_label_position("top")
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)


def _draw_staleness(table: Table, axes: Axes, kind: str) -> None:
    times = [time for time in column(table, "time") for _ in range(2)]
    befores, afters = (column(table, f"{kind}_{side}") for side in ("before", "after"))
    values = [value for pair in zip(befores, afters, strict=True) for value in pair]
    axes.plot(times, values, label=f"{kind} staleness")
    axes.set_ylim(-3.0, 12.5)
    axes.set_yticks(range(0, 13, 2))
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_ylabel("tuples dequeued" if kind == "queue" else "results")


def _draw_dequeue(row: Row, axes: Axes) -> None:
    """Draw how long a tuple is processed, which it is, and its mark."""
    start = number(row, "time")
    axes.broken_barh([(start, COST)], (-2.6, 2.2), facecolor="lightgrey", edgecolor="white")
    label = f"{row['left']}, mark {row['mark']}"
    axes.text(start + COST / 2, -1.5, label, ha="center", va="center")


def _draw_result(row: Row, axes: Axes) -> None:
    time = number(row, "time")
    axes.vlines([time], -2.6, 0.0, color="black")
    axes.text(time + 0.1, -1.5, str(row["result"]), ha="left", va="center")


def _figure(
    name: str, semantics: str, buffer: type[WindowBuffer], *, ticks: int, expected: Falls
) -> Experiment:
    def points(_scale: Scale) -> list[Point]:
        return [{"semantics": semantics}]

    def measure(_point: Point, _scale: Scale) -> Table:
        return trace_run(buffer, ticks=ticks)

    (first, staleness), (second, _) = expected
    return Experiment(
        name=name,
        title=f"Execution trace, {semantics.upper()} windows",
        claim=(
            f"With one key, size 3, slide 1 and C_t = 2, {semantics.upper()} delivers [1,4) at "
            f"{first:g} and [7,10) at {second:g}, and application staleness falls to "
            f"{staleness:g} both times."
        ),
        points=points,
        measure=measure,
        draw=draw_trace,
        verdict=partial(judge, expected=expected),
    )


FIGURES: Final = (
    _figure("12a", "lazy", LazyWindowBuffer, ticks=16, expected=((9, 5), (15, 5))),
    _figure("12b", "eager", EagerWindowBuffer, ticks=14, expected=((7, 3), (13, 3))),
)
