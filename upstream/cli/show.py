"""`upstream ls`, `upstream get` and `upstream staleness`: what the service holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import typer

from upstream.client import QueueView, ReceivedUpdate, Staleness, StreamView

from .arguments import Json, JsonKey, QueueName, StreamName, key_of
from .connection import connected
from .formatting import UNKNOWN, count, duration, key_text, rate, times, value_text
from .output import (
    add_row,
    say,
    table_with,
    write_json,
    write_json_lines,
    write_line,
    write_table,
)

Stalest: TypeAlias = Annotated[
    int,
    typer.Option("--stalest", "-n", min=0, max=1_000, help="How many of the stalest keys to show."),
]
KeyArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="KEY", help="A string. [default: all keys]", show_default=False),
]
Raw: TypeAlias = Annotated[bool, typer.Option("--raw", help="Print a string value without quotes.")]


def list_names(context: typer.Context, *, is_json: Json = False) -> None:
    """List the streams, and the queues that they feed.

    Late updates were older than the newest update of their key, and were dropped. Updates in
    process were dequeued, but not delivered yet.

    For example:

    - `upstream ls`
    """
    with connected(context) as client:
        streams, queues = client.streams(), client.queues()
    if is_json:
        write_json({"streams": streams, "queues": queues})
        return
    if not streams:
        say("There are no streams yet; `upstream create queue NAME` creates one with a queue.")
        return
    _write_streams(streams)
    if queues:
        write_line("")
        _write_queues(queues)


def _write_streams(streams: list[StreamView]) -> None:
    counters = ("keys", "arrived", "late", "rejected", "watched by")
    table = table_with("stream", *counters, "queues", right=counters)
    for each in streams:
        counted = (each.keys, each.arrived, each.late, each.rejected, each.subscribers)
        queues = ", ".join(each.queues) or UNKNOWN
        add_row(table, each.name, *(f"{number:,}" for number in counted), queues)
    write_table(table)


def _write_queues(queues: list[QueueView]) -> None:
    counters = ("waiting", "in process", "watched by")
    table = table_with("queue", "stream", "kind", "scheduler", *counters, right=counters)
    for each in queues:
        counted = (each.waiting, each.in_process, each.subscribers)
        scheduler = each.scheduler if each.kind != "append" else None
        add_row(
            table,
            each.name,
            each.stream,
            each.kind,
            scheduler or UNKNOWN,
            *(f"{number:,}" for number in counted),
        )
    write_table(table)


def get_values(
    context: typer.Context,
    *,
    stream: StreamName,
    key: KeyArgument = None,
    is_json_key: JsonKey = False,
    is_raw: Raw = False,
    is_json: Json = False,
) -> None:
    """Print the newest value of a key as JSON. Without KEY, print a line of JSON for every key.

    With --json, the output has the key, the value and the time. The exit code is 1 if the stream or
    the key does not exist.

    For example:

    - `upstream get prices IBM`
    - `upstream get prices`
    """
    with connected(context) as client:
        if key is None:
            write_json_lines(client.snapshot(stream))
            return
        update = client.get(stream, key_of(key, is_json=is_json_key))
    if is_json:
        write_json(update)
    else:
        write_line(_text(update, is_raw=is_raw))


def _text(update: ReceivedUpdate, *, is_raw: bool) -> str:
    is_text = is_raw and isinstance(update.value, str)
    return str(update.value) if is_text else value_text(update.value)


def show_staleness(
    context: typer.Context, *, queue: QueueName, stalest: Stalest = 10, is_json: Json = False
) -> None:
    """Show the staleness of a queue, its lower bound, and the stalest keys.

    Queue staleness is how long a key has waited since its first waiting update arrived. Application
    staleness is how long the consumer's value has been out of date. Both are averaged over time,
    then over keys.

    The bound is the lowest mean staleness that any scheduler can be expected to reach with Poisson
    arrivals. It is shown once the consumer's cost per update is known, either given or measured
    from its deliveries. The ratio to the bound is shown after a warm-up ten times that long.

    For example:

    - `upstream staleness prices --stalest 5`
    """
    with connected(context) as client:
        found = client.staleness(queue, stalest=stalest)
        is_resting = found.rates.keys == 0 and client.queue(queue).serves == "push"
    if is_json:
        write_json(found)
        return
    if is_resting:
        say(
            "Only push connections use this queue, and each of them has a queue of its own. This "
            "queue stays empty until a consumer dequeues from it."
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
