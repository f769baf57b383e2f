"""`upstream put`: send one update, or updates from the standard input."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

import typer
from rich.progress import MofNCompleteColumn

from upstream.client import Client, Counts, Feed, Key, NotFoundError

from .arguments import Json, JsonKey, StreamName, key_of, value_of
from .connection import REFUSED, connected
from .formatting import count
from .output import progress, say, write_json, write_line
from .update_lines import LineError, UpdateLines

KeyArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="KEY",
        help="A string. `-`, or no KEY: read lines from the input.",
        show_default=False,
    ),
]
ValueArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="VALUE", help="JSON. Anything else is a string.", show_default=False),
]
Time: TypeAlias = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="The time at the source. [default: the time of arrival]"),
]
Raw: TypeAlias = Annotated[
    bool, typer.Option("--raw", help="Send VALUE as a string, even if it is JSON.")
]
BatchSize: TypeAlias = Annotated[
    int,
    typer.Option("--batch", min=1, metavar="N", help="Send at most this many lines in a request."),
]

BATCH_SECONDS = 0.1
"""How many seconds a line waits for others, at most; so a slow pipe is not stale."""


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
    """Send one update with KEY and VALUE, or updates from the standard input, one per line.

    A line is JSON: `{"key": "IBM", "value": 24.5, "time": 1700000000}`, where the time is optional,
    or in short `["IBM", null, 24.5]`. Lines are sent in batches, each line after 0.1 seconds at
    most, so `tail -f prices.ndjson | upstream put prices` works too. The lines that `dequeue` and
    `tail` print are also accepted; `"deleted": true` deletes the key. The first line that is not an
    update ends the command.

    The command prints what happened to the updates, and lists those that the service rejected. If
    it ends early, it says how many were not confirmed. The exit code is 1 if any was rejected.

    For example:

    - `upstream put prices IBM 24.5`
    - `upstream put temperatures Oslo -5`
    - `upstream tail prices | upstream put copy`
    """
    if key in (None, "-") and value is None:
        if time is not None or is_raw or is_json_key:
            raise typer.BadParameter("--time, --raw and --json-key need KEY and VALUE")
        _put_lines(context, stream, batch_size, is_json=is_json)
        return
    if key is None or value is None:
        raise typer.BadParameter("give both KEY and VALUE, or neither of them to read lines")
    with connected(context) as client:
        counts = client.put(
            stream, key_of(key, is_json=is_json_key), value_of(value, is_raw=is_raw), time
        )
    _report(counts, None, is_json=is_json)
    if counts.rejected:
        raise typer.Exit(REFUSED)


def _put_lines(context: typer.Context, stream: str, batch_size: int, *, is_json: bool) -> None:
    lines = UpdateLines(sys.stdin.buffer)
    with connected(context) as client:
        feed = client.feed(stream, batch_size=batch_size, batch_seconds=BATCH_SECONDS)
        sent = _Sent(feed)
        try:
            _send_lines(client, stream, lines, sent)
        except LineError as error:
            say(f"Error: {error}")
            raise typer.Exit(REFUSED) from error
        finally:  # the report covers what was sent, whatever ended it
            _report(sent.counts, lines, is_json=is_json)
            if feed.unconfirmed:
                say(f"{count(feed.unconfirmed, 'update')} not confirmed")
    if sent.counts.rejected:
        raise typer.Exit(REFUSED)


@dataclass(slots=True)
class _Sent:
    """The counts so far: of updates in a feed, and of deletions, which are sent one by one."""

    feed: Feed
    deletions: Counts = field(default_factory=Counts)

    @property
    def counts(self) -> Counts:
        return self.feed.counts.plus(self.deletions, sent=0)


def _send_lines(client: Client, stream: str, lines: UpdateLines, sent: _Sent) -> None:
    with progress(MofNCompleteColumn()) as bar, sent.feed as feed:
        task = bar.add_task("updates read", total=None)
        for update in lines:
            if update.is_deleted:
                feed.flush()  # the deletion must come after the updates before it
                sent.deletions = sent.deletions.plus(_delete(client, stream, update.key), sent=0)
            else:
                feed.put(update.key, update.value, update.time)
            bar.advance(task)


def _delete(client: Client, stream: str, key: Key) -> Counts:
    """Delete a key. A missing key is fine; a missing stream raises NotFoundError."""
    try:
        return client.delete(stream, key)
    except NotFoundError:
        client.stream(stream)
        return Counts()


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


def _sentence(counts: Counts) -> str:
    """Say what happened to the updates; unusual counts are shown if they are not zero."""
    usual = f"{counts.waiting:,} waiting, {counts.superseded:,} superseded"
    others = {"late": counts.late, "rejected": counts.rejected, "outside": counts.outside}
    return usual + "".join(f", {number:,} {name}" for name, number in others.items() if number)
