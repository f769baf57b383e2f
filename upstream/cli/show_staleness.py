"""`upstream staleness`: how stale a queue is, and who pays for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import typer

from upstream.client import Staleness

from .arguments import Json, QueueName
from .connection import connected
from .formatting import UNKNOWN, count, duration, key_text, rate, times
from .output import add_row, say, table_with, write_json, write_line, write_table

Stalest: TypeAlias = Annotated[
    int, typer.Option("--stalest", "-n", min=0, max=1_000, help="How many of its stalest keys.")
]


def show_staleness(
    context: typer.Context, *, queue: QueueName, stalest: Stalest = 10, is_json: Json = False
) -> None:
    """Show how stale a queue is, beside the lower bound, and which keys are stalest.

    Queue staleness: how long a key has waited since its first waiting update came. Application
    staleness: how long the consumer's value has been out of date. Both are averaged over time, then
    over keys. No order of service is expected to stay below the bound under memoryless arrivals. It
    is known once the consumer's cost is (told, or measured as it delivers), and compared once the
    queue has been measured for ten times as long.
    """
    with connected(context) as client:
        found = client.staleness(queue, stalest=stalest)
        is_resting = found.rates.keys == 0 and client.queue(queue).serves == "push"
    if is_json:
        write_json(found)
        return
    if is_resting:
        say(
            "Only push connections use this queue, and each has a queue of its own. This one stays "
            "empty until something is dequeued from it."
        )
    arrivals = rate(found.rates.arrival)
    write_line(
        f"{count(found.rates.keys, 'key')}, {arrivals} updates/s, "
        f"{duration(found.cost)} for an update\n"
    )
    _write_means(found)
    if found.stalest_keys:
        write_line("")
        _write_keys(found)


def _write_means(found: Staleness) -> None:
    numbers = ("mean", "now", "bound", "x bound", "p50", "p90", "p99", "worst key")
    table = table_with("staleness", *numbers, right=numbers)
    add_row(
        table,
        "queue",
        duration(found.queue_staleness),
        duration(found.present_queue_staleness),
        duration(found.lower_bound),
        times(found.ratio, is_warming_up=found.is_warming_up),
        *_percentiles(found.percentiles),
    )
    add_row(
        table,
        "application",
        duration(found.application_staleness),
        duration(found.present_application_staleness),
        duration(found.application_lower_bound),
        times(found.application_ratio, is_warming_up=found.application_is_warming_up),
        *_percentiles(found.application_percentiles),
    )
    write_table(table)


def _write_keys(found: Staleness) -> None:
    numbers = ("queue", "application", "waits for", "stale for", "updates/s")
    table = table_with("stalest keys", *numbers, right=numbers)
    for each in found.stalest_keys:
        add_row(
            table,
            key_text(each.key),
            duration(each.queue_staleness),
            duration(each.application_staleness),
            duration(each.waiting_seconds) if each.waiting_seconds else UNKNOWN,
            duration(each.stale_seconds) if each.stale_seconds else UNKNOWN,
            rate(each.rate),
        )
    write_table(table)


def _percentiles(found: Mapping[str, float | None]) -> list[str]:
    return [duration(found.get(point)) for point in ("50", "90", "99", "100")]
