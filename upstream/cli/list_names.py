"""`upstream ls`: which streams and queues there are."""

from __future__ import annotations

import typer

from upstream.client import QueueView, StreamView

from .arguments import Json
from .connection import connected
from .formatting import UNKNOWN
from .output import add_row, say, table_with, write_json, write_line, write_table


def list_names(context: typer.Context, *, is_json: Json = False) -> None:
    """List the streams, and the queues that they feed.

    Late updates were older than the newest known of their key, and were dropped. In process is
    what was dequeued and not delivered yet.
    """
    with connected(context) as client:
        streams, queues = client.streams(), client.queues()
    if is_json:
        write_json({"streams": streams, "queues": queues})
        return
    if not streams:
        say("There are no streams yet; `upstream create queue NAME` makes one, and a queue on it.")
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
