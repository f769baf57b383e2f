"""`upstream watch`: the newest values, in place."""

from __future__ import annotations

from collections.abc import Iterator

import typer
from rich.console import Console
from rich.live import Live

from upstream.client import ReceivedUpdate, WatchMessage
from upstream.clock import SystemClock

from .arguments import Json, QueueName
from .connection import connected
from .formatting import key_text, value_text
from .output import console, is_terminal, write_json_lines, write_line
from .picture import Picture
from .push_options import (
    Count,
    Keys,
    MaxRate,
    MaxRatePerKey,
    Snapshot,
    Window,
    at_most,
    say_superseded,
    watch,
)

REDRAWS_PER_SECOND = 8
LINES_AROUND = 3
"""Title, header, and the line of the cursor."""


def watch_queue(
    context: typer.Context,
    *,
    queue: QueueName,
    keys: Keys = None,
    max_rate: MaxRate = None,
    max_rate_per_key: MaxRatePerKey = None,
    window: Window = None,
    snapshot: Snapshot = True,
    count: Count = None,
    is_json: Json = False,
) -> None:
    """Show the newest values as they change, until interrupted.

    In a terminal, a table of the keys that changed last; elsewhere, a line with key and value for
    each update (--json: as JSON). The queue is left as it is: each reader has one of its own. Of an
    append queue, too, no more than 10,000 updates wait for this reader; then only the newest of
    each key are kept. The table's title, or a line at the end, says how many were left out.
    """
    with (
        connected(context) as client,
        watch(
            client,
            queue,
            keys=keys,
            max_rate=max_rate,
            max_rate_per_key=max_rate_per_key,
            window=window,
            snapshot=snapshot,
        ) as watched,
    ):
        messages = at_most(watched.messages(), count)
        if is_terminal() and not is_json:
            _draw(console(), queue, messages)
            return
        try:
            for message in messages:
                if is_json:
                    write_json_lines(message.updates)
                elif message.updates:
                    write_line("\n".join(map(_line, message.updates)))
        finally:
            say_superseded(watched)


def _draw(console: Console, queue: str, messages: Iterator[WatchMessage]) -> None:
    clock, picture = SystemClock(), Picture()
    with Live(
        console=console,
        get_renderable=lambda: picture.table(
            queue,
            rows=max(1, console.height - LINES_AROUND),
            width=console.width,
            now=clock.now(),
        ),
        refresh_per_second=REDRAWS_PER_SECOND,
    ):
        for message in messages:
            picture.apply(message, clock.now())


def _line(update: ReceivedUpdate) -> str:
    return f"{key_text(update.key)} {'deleted' if update.is_deleted else value_text(update.value)}"
