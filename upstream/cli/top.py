"""`upstream top`: what every queue is doing, live."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count as counting
from typing import Annotated, Final, TypeAlias

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from upstream.client import Client, NotFoundError
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
from .queue_rates import Look, QueueRates, rates_between

LINES_AROUND: Final = 2
"""Of a terminal: the header, and the line of the cursor."""

Interval: TypeAlias = Annotated[
    float,
    typer.Option(
        "--interval", "-i", callback=waitable, metavar="SECONDS", help="Look again after so long."
    ),
]
Rounds: TypeAlias = Annotated[
    int | None, typer.Option("--count", "-n", min=1, help="Stop after so many looks.")
]


def top(
    context: typer.Context,
    *,
    interval: Interval = 2.0,
    rounds: Rounds = None,
    is_json: Json = False,
) -> None:
    """Show what every queue is doing, the stalest now first, until interrupted.

    Updates per second: in, out, superseded (a newer one took the place of one that waited), dropped
    (late, expired, shed or rejected). Stale now: for how long the keys wait, on average over keys;
    stale: the same, averaged over time; bound: the lower bound expected under memoryless arrivals;
    x bound: stale divided by bound, once the queue was measured for long enough. A dash means not
    known yet.

    In a terminal a table that is redrawn, with as many queues as fit; elsewhere a table for each
    look, or a line of JSON with the list of queues (--json).
    """
    with connected(context) as client:
        found = looks(client, SystemClock(), interval)
        if is_terminal() and not is_json:
            _draw(console(), found, rounds)
            return
        next(found)  # there are no rates before the second
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
    """Yield what the queues do, the stalest first, at once and then every `interval` seconds."""
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
            continue  # it was removed just now
        yield queue, Look(clock.now(), counters, staleness)
