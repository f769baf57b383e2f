"""Figure 2: what staleness is, on one key whose updates come faster than they are processed.

The report, section 3.3: updates a, b, c, ... of a single key arrive every 2 time units, and each
takes 3 to process. From an arrival on, the staleness of the output grows. With a delivery it falls:
to zero if nothing newer has arrived, and otherwise to the time since the arrival of the first
update that made the new result stale. So when a' is delivered, it falls to `now - arrival of b`.

The report does not say what happens to a waiting update when the next one arrives, or how many
updates there are. Here the queue is the update queue of the report, IN-PLACE; the traditional
append queue has a panel of its own for comparison. The choice does not change what staleness is,
but it changes which updates are delivered. The update queue skips c and f, and its staleness stays
bounded; with the append queue it rises by 1 more with every delivery. Seven updates arrive, and
both queues are emptied, so that staleness ends at zero.

Rows: `line` has the corners of staleness over time; `arrival`, `dequeue` and `delivery` have the
events, and the staleness after all events of that moment.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from upstream.events import Event

from ..model.policy_run import PolicyRun
from ..model.staleness_lines import Segment, corners, staleness_line
from ..workloads.recorded import Recorded
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEY: Final = "the key"
LETTERS: Final = "abcdefg"
"""The updates, in the order of their arrival."""
ARRIVES_EVERY: Final = 2.0
COST: Final = 3.0
END: Final = 23.0
POLICIES: Final = ("in-place", "append")


def points(_: Scale) -> list[Point]:
    """Return the policies; nothing here depends on the scale."""
    return [{"policy": policy} for policy in POLICIES]


def measure(point: Point, _: Scale) -> Table:
    """Run the few updates, let the queue empty, and draw the line from the events."""
    times = [ARRIVES_EVERY * count for count in range(len(LETTERS))]
    simulation, subscriber = PolicyRun(
        policy=str(point["policy"]),
        workload=Recorded([KEY], times=times, codes=[0] * len(times)),
        cost=COST,
        updates=len(times),
        is_logged=True,
    ).set_up()
    simulation.run(len(times))
    simulation.run_on(END)
    assert subscriber.log is not None
    line = staleness_line(subscriber.log, KEY, of="application", end=END)
    return [
        *(_row(point, "line", "", time, staleness) for time, staleness in corners(line)),
        *(_event_row(point, event, line) for event in subscriber.log),
    ]


def _event_row(point: Point, event: Event, line: list[Segment]) -> Row:
    after = _staleness_after(line, event.time)
    return _row(point, event.kind.name.lower(), LETTERS[event.number], event.time, after)


def _row(point: Point, what: str, update: str, time: float, staleness: float) -> Row:
    return {**point, "what": what, "update": update, "time": time, "staleness": staleness}


def _staleness_after(line: list[Segment], time: float) -> float:
    """Return the staleness when all that happens at a time has happened."""
    segment = [segment for segment in line if segment.start <= time][-1]
    return 0.0 if segment.since is None else time - segment.since


def draw(table: Table, figure: Figure) -> None:
    """Draw staleness over time, and below it the arrivals, the processing and the deliveries."""
    panels = figure.subplots(len(POLICIES), 1, sharex=True, sharey=True)
    for axes, policy in zip(panels, POLICIES, strict=True):
        rows = where(table, policy=policy)
        line = where(rows, what="line")
        axes.plot(column(line, "time"), column(line, "staleness"), label="staleness")
        _draw_events(axes, rows)
        axes.axhline(0.0, color="black", linewidth=0.8, zorder=0)
        axes.set_title(policy.upper())
        axes.set_xlabel("time")
        axes.set_ylabel("staleness")
        axes.set_xlim(-0.5, END)
        axes.set_xticks(range(0, int(END) + 1, 2))
        axes.set_ylim(-3.3, 9.5)
        axes.set_yticks([-2.7, -1.7, -0.7, 0, 3, 6, 9], ["output", "processing", "input", *"0369"])
    figure.set_size_inches(7.0, 6.4)


def _draw_events(axes: Axes, rows: list[Row]) -> None:
    for row in where(rows, what="arrival"):
        _write(axes, number(row, "time"), -0.7, str(row["update"]))
    for row in where(rows, what="delivery"):
        update, time = str(row["update"]), number(row, "time")
        [dequeue] = where(rows, what="dequeue", update=update)
        start = number(dequeue, "time")
        axes.barh(-1.7, time - start, left=start, height=0.7, color="lightgrey", edgecolor="white")
        _write(axes, (start + time) / 2.0, -1.7, update)
        _write(axes, time, -2.7, f"{update}'")
        axes.axvline(time, color="lightgrey", linewidth=0.8, zorder=0)


def _write(axes: Axes, time: float, height: float, text: str) -> None:
    axes.text(time, height, text, horizontalalignment="center", verticalalignment="center")


def verdict(table: Table) -> Verdict:
    """Say what staleness is after the delivery of a', and whether all deliveries are like it."""
    [first] = where(table, policy="in-place", what="delivery", update="a")
    expected = _expected_after(table, first)
    deliveries = where(table, what="delivery")
    as_said = [row for row in deliveries if _expected_after(table, row) == row["staleness"]]
    rises = {
        policy: "rises" if _heights_grow(where(table, policy=policy)) else "does not rise"
        for policy in POLICIES
    }
    held = len(as_said) == len(deliveries) and expected > 0
    return Verdict(
        f"When a' is delivered at {number(first, 'time'):g}, staleness falls to "
        f"{number(first, 'staleness'):g} (now - arrival of b is {expected:g}); {len(as_said)} of "
        f"{len(deliveries)} deliveries reduce it to the time since the next update arrived, or to "
        f"0 if there is no newer update. While updates arrive, the staleness before a delivery "
        f"{rises['append']} each time with an append queue, and {rises['in-place']} each time with "
        "IN-PLACE.",
        held,
    )


def _expected_after(table: Table, delivery: Row) -> float:
    """Return the report's staleness after a delivery: since the first newer update came, or 0."""
    arrivals = where(table, policy=delivery["policy"], what="arrival")
    now = number(delivery, "time")
    newer = [row for row in arrivals if str(row["update"]) > str(delivery["update"])]
    since = [now - number(row, "time") for row in newer if number(row, "time") <= now]
    return max(since, default=0.0)


def _heights_grow(rows: list[Row]) -> bool:
    """Tell whether staleness rises further before each delivery, while updates still arrive."""
    last_arrival = max(column(where(rows, what="arrival"), "time"))
    times = [time for time in column(where(rows, what="delivery"), "time") if time <= last_arrival]
    heights = [max(column(where(rows, what="line", time=time), "staleness")) for time in times]
    return all(before < after for before, after in pairwise(heights))


EXPERIMENT: Final = Experiment(
    name="2",
    title="Staleness",
    claim=(
        "Staleness grows from an arrival on; when a result is delivered it goes to zero, or, if "
        "newer updates have come, down to the time since the first of them: when a' is delivered, "
        "to now - arrival of b."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
