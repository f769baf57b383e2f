"""`upstream top`: the rates and the staleness of all queues, live."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count as counting
from typing import Annotated, Final, TypeAlias

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from upstream.client import Client, Counters, NotFoundError, Staleness
from upstream.clock import Clock, SystemClock

from .arguments import Json, waitable
from .connection import connected
from .formatting import duration, rate, times
from .output import (
    add_row,
    console,
    fit,
    is_terminal,
    table_with,
    write_json_lines,
    write_line,
    write_table,
)

LINES_AROUND: Final = 2
"""Lines of a terminal that are not rows: the header, and the line of the cursor."""
COUNTERS: Final = ("in", "out", "superseded", "dropped")
"""The counters that never decrease while a queue exists."""

Interval: TypeAlias = Annotated[
    float,
    typer.Option(
        "--interval",
        "-i",
        callback=waitable,
        metavar="SECONDS",
        help="Update the table this often.",
    ),
]
Rounds: TypeAlias = Annotated[
    int | None, typer.Option("--count", "-n", min=1, help="Stop after this many tables.")
]


def top(
    context: typer.Context,
    *,
    interval: Interval = 2.0,
    rounds: Rounds = None,
    is_json: Json = False,
) -> None:
    """Show the rates and the staleness of every queue, the stalest first, until interrupted.

    Rates are updates per second: in, out, superseded (replaced by a newer one while it waited), and
    dropped (late, expired, shed or rejected).

    Stale now is how long the keys have waited, averaged over keys. Stale is the same, averaged over
    time. Bound is a lower bound on stale that assumes Poisson arrivals. x bound is stale divided by
    bound, after a warm-up. A dash means that the number is not known yet.

    A terminal shows one table, which is updated in place, with as many queues as fit. Other outputs
    get a table each time, or with --json a line with the list of queues.

    For example:

    - `upstream top --interval 1`
    """
    with connected(context) as client:
        found = looks(client, SystemClock(), interval)
        if is_terminal() and not is_json:
            _draw(console(), found, rounds)
            return
        next(found)  # rates need two measurements
        for number, queues in zip(counting(1), found, strict=False):
            if is_json:
                write_json_lines([{"queues": queues}])
            else:
                write_table(table_of(queues))
            if number == rounds:
                return
            if not is_json:
                write_line("")


def table_of(queues: list[QueueRates]) -> Table:
    """Return a table with a row for each queue."""
    numbers = (
        *("waiting", "in/s", "out/s", "superseded/s", "dropped/s"),
        *("stale now", "stale", "bound", "x bound"),
    )
    table = table_with("queue", *numbers, right=numbers)
    for each in queues:
        add_row(
            table,
            each.queue,
            f"{each.waiting:,}",
            rate(each.in_per_second),
            rate(each.out_per_second),
            rate(each.superseded_per_second),
            rate(each.dropped_per_second),
            duration(each.present_staleness),
            duration(each.staleness),
            duration(each.lower_bound),
            times(each.times_the_bound, is_warming_up=each.is_warming_up),
        )
    return table


def looks(
    client: Client,
    clock: Clock,
    interval: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[list[QueueRates]]:
    """Yield the rates of all queues, the stalest first, now and then every `interval` seconds."""
    before: dict[str, Look] = {}
    while True:
        now = dict(_look(client, clock))
        found = [rates_between(queue, before.get(queue), look) for queue, look in now.items()]
        yield sorted(found, key=lambda each: each.present_staleness or 0.0, reverse=True)
        before = now
        sleep(interval)


def _draw(console: Console, found: Iterator[list[QueueRates]], rounds: int | None) -> None:
    with Live(console=console, auto_refresh=False) as live:
        for number, queues in zip(counting(1), found, strict=False):
            fitting = queues[: max(1, console.height - LINES_AROUND)]
            live.update(fit(table_of(fitting), console.width), refresh=True)
            if number == rounds:
                return


def _look(client: Client, clock: Clock) -> Iterator[tuple[str, Look]]:
    for queue in [view.name for view in client.queues()]:
        try:
            counters, staleness = client.statistics(queue), client.staleness(queue, stalest=0)
        except NotFoundError:
            continue  # the queue was removed meanwhile
        yield queue, Look(clock.now(), counters, staleness)


@dataclass(frozen=True, slots=True)
class Look:
    """The counters and the staleness of a queue at one moment."""

    at: float
    counters: Counters
    staleness: Staleness


@dataclass(frozen=True, slots=True)
class QueueRates:
    """A queue between two moments. Rates are per second.

    Rates are None after the first look, and after a queue was removed and created again.
    `staleness` is the mean so far in seconds, `present_staleness` is that of this moment.
    `is_warming_up` means that it is too early to compare staleness with the bound.
    """

    queue: str
    waiting: int
    in_per_second: float | None
    out_per_second: float | None
    superseded_per_second: float | None
    dropped_per_second: float | None
    staleness: float | None
    present_staleness: float | None
    lower_bound: float | None
    times_the_bound: float | None
    is_warming_up: bool


def rates_between(queue: str, before: Look | None, now: Look) -> QueueRates:
    """Return the rates between two looks; the first look may be missing."""
    counted = _counted(now.counters)
    seconds = 0.0 if before is None else now.at - before.at
    earlier = {} if before is None else _counted(before.counters)

    is_another = any(counted[name] < earlier.get(name, 0) for name in COUNTERS)

    def rate(name: str) -> float | None:
        if seconds <= 0 or is_another:
            return None
        return (counted[name] - earlier[name]) / seconds

    return QueueRates(
        queue=queue,
        waiting=counted["waiting"],
        in_per_second=rate("in"),
        out_per_second=rate("out"),
        superseded_per_second=rate("superseded"),
        dropped_per_second=rate("dropped"),
        staleness=now.staleness.queue_staleness,
        present_staleness=now.staleness.present_queue_staleness,
        lower_bound=now.staleness.lower_bound,
        times_the_bound=now.staleness.ratio,
        is_warming_up=now.staleness.is_warming_up,
    )


def _counted(counters: Counters) -> Mapping[str, int]:
    """Return the counters that all kinds of queue have; a window queue counts windows."""
    windows, tuples = counters.windows, counters.tuples
    if windows is None or tuples is None:
        dropped = counters.late + counters.expired + counters.shed + counters.rejected
        return {
            "waiting": counters.waiting,
            "in": counters.arrived,
            "out": counters.dequeued,
            "superseded": counters.superseded,
            "dropped": dropped,
        }
    return {
        "waiting": windows.get("held", 0),
        "in": tuples.get("arrived", 0),
        "out": windows.get("committed", 0),
        "superseded": windows.get("superseded", 0),
        "dropped": windows.get("shed", 0) + windows.get("rejected", 0),
    }
