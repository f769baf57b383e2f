"""`upstream put`: send one update, or what comes in line by line."""

from __future__ import annotations

import sys
from typing import Annotated, TypeAlias

import typer
from rich.progress import MofNCompleteColumn

from upstream.client import Client, Counts

from .arguments import Json, JsonKey, StreamName, key_of, value_of
from .connection import REFUSED, connected
from .formatting import count
from .output import progress, say, write_json, write_line
from .update_lines import LineError, UpdateLines

KeyArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="KEY", help="A string; `-` or none: read lines.", show_default=False),
]
ValueArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="VALUE", help="JSON; what is not JSON is a string.", show_default=False),
]
Time: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="When it happened at its source. [default: when it arrives]"
    ),
]
Raw: TypeAlias = Annotated[bool, typer.Option("--raw", help="VALUE is a string, as it is.")]
BatchSize: TypeAlias = Annotated[
    int, typer.Option("--batch", min=1, metavar="N", help="Send at most so many lines at once.")
]

BATCH_SECONDS = 0.1
"""How old a line may become before it is sent, so that a slow pipe is not a stale one."""


def put_updates(
    context: typer.Context,
    *,
    stream: StreamName,
    key: KeyArgument = None,
    value: ValueArgument = None,
    time: Time = None,
    is_raw: Raw = False,
    is_json_key: JsonKey = False,
    batch_size: BatchSize = 1_000,
    is_json: Json = False,
) -> None:
    """Send an update: KEY is VALUE now. Without them, send updates that come in line by line.

    A line is JSON: `{"key": "IBM", "value": 24.5, "time": 1700000000}`, whose time may be missing,
    or shorter `["IBM", null, 24.5]`. Lines are sent in batches, at the latest after 0.1 seconds, so
    that `tail -f prices.ndjson | upstream put prices` works as well. A line that is no update ends
    it; those that the service rejects are listed.

    Prints what became of the updates. Exit code 1 if any was rejected.
    """
    if key in (None, "-") and value is None:
        if time is not None or is_raw or is_json_key:
            raise typer.BadParameter("--time, --raw and --json-key need KEY and VALUE")
        _put_lines(context, stream, batch_size, is_json=is_json)
        return
    if key is None or value is None:
        raise typer.BadParameter("give both KEY and VALUE, or none to read lines")
    with connected(context) as client:
        counts = client.put(
            stream, key_of(key, is_json=is_json_key), value_of(value, is_raw=is_raw), time
        )
    _report(counts, None, is_json=is_json)


def _put_lines(context: typer.Context, stream: str, batch_size: int, *, is_json: bool) -> None:
    lines = UpdateLines(sys.stdin.buffer)
    with connected(context) as client:
        counts, fault = _send_lines(client, stream, lines, batch_size)
    _report(counts, lines, is_json=is_json)
    if fault is not None:
        say(f"Error: {fault}")
        raise typer.Exit(REFUSED)


def _send_lines(
    client: Client, stream: str, lines: UpdateLines, batch_size: int
) -> tuple[Counts, LineError | None]:
    """Return what became of the updates up to the first line that is none, and what that is."""
    fault: LineError | None = None
    feed = client.feed(stream, batch_size=batch_size, batch_seconds=BATCH_SECONDS)
    with progress(MofNCompleteColumn()) as bar, feed:
        task = bar.add_task("updates read", total=None)
        try:
            for key, value, time in lines:
                feed.put(key, value, time)
                bar.advance(task)
        except LineError as error:
            fault = error
    return feed.counts, fault


def _report(counts: Counts, lines: UpdateLines | None, *, is_json: bool) -> None:
    if is_json:
        write_json(counts)
    else:
        write_line(_sentence(counts))
    for rejection in counts.rejections:
        where = "" if lines is None else f"line {lines.line_of(rejection.index)}: "
        say(f"rejected: {where}{rejection.reason}")
    if counts.rejected > len(counts.rejections):
        say(f"... and {count(counts.rejected - len(counts.rejections), 'more rejection')}")
    if counts.rejected:
        raise typer.Exit(REFUSED)


def _sentence(counts: Counts) -> str:
    """Say what became of updates: all of what is usual, and the rest where there is any."""
    usual = f"{counts.waiting:,} waiting, {counts.superseded:,} superseded"
    others = {"late": counts.late, "rejected": counts.rejected, "outside": counts.outside}
    return usual + "".join(f", {number:,} {name}" for name, number in others.items() if number)
