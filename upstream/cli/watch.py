"""`upstream watch` and `upstream tail`: updates as the service pushes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from upstream.client import Key, ReceivedUpdate, WatchMessage
from upstream.clock import SystemClock

from .arguments import Json, QueueName
from .formatting import count as counted
from .formatting import duration, key_text, value_text
from .output import (
    add_row,
    console,
    fit,
    is_terminal,
    table_with,
    write_json_lines,
    write_line,
)
from .push_options import (
    Conflate,
    Count,
    Keys,
    MaxRate,
    MaxRatePerKey,
    Snapshot,
    Window,
    at_most,
    say_superseded,
    watched,
)

REDRAWS_PER_SECOND = 8
LINES_AROUND = 3
"""Lines of a terminal that are not rows: title, header, and the line of the cursor."""

Messages: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--messages",
        help='Print whole messages. "id" is the position in the stream. "reset": true begins a '
        'new picture. "superseded" counts the updates that newer ones replaced before it.',
    ),
]


def watch_queue(
    context: typer.Context,
    *,
    queue: QueueName,
    keys: Keys = None,
    max_rate: MaxRate = None,
    max_rate_per_key: MaxRatePerKey = None,
    window: Window = None,
    snapshot: Snapshot = True,
    conflate: Conflate = "auto",
    count: Count = None,
    is_json: Json = False,
) -> None:
    """Show the newest values as they change, until interrupted.

    A terminal shows a table of the keys that changed last. Other outputs get a line with key and
    value for each update, or a line of JSON with --json. The queue itself does not change, because
    every reader has a queue of its own.

    Of an append queue, up to 10,000 updates may wait for this reader. After that, only the newest
    update of each key is kept. The title of the table, or a line at the end, says how many updates
    were left out.

    For example:

    - `upstream watch prices`
    - `upstream watch prices --keys 'GO*' --max-rate 10`
    """
    with watched(
        context,
        queue,
        keys=keys,
        max_rate=max_rate,
        max_rate_per_key=max_rate_per_key,
        window=window,
        snapshot=snapshot,
        conflate=conflate,
    ) as watch:
        messages = at_most(watch.messages(), count)
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
            say_superseded(watch)


def tail_queue(
    context: typer.Context,
    *,
    queue: QueueName,
    keys: Keys = None,
    max_rate: MaxRate = None,
    max_rate_per_key: MaxRatePerKey = None,
    window: Window = None,
    snapshot: Snapshot = True,
    conflate: Conflate = "auto",
    count: Count = None,
    has_messages: Messages = False,
) -> None:
    """Print updates as they are pushed, each as a line of JSON, until interrupted.

    The queue itself does not change, because every reader has a queue of its own. A slow reader
    gets fewer updates, not older ones. A lost connection is opened again, and the newest value of
    every key still arrives.

    Of an append queue, up to 10,000 updates may wait for this reader. After that, only the newest
    update of each key is kept. A line at the end says how many updates were left out; --messages
    shows it as it happens.

    For example:

    - `upstream tail prices --messages`
    """
    with watched(
        context,
        queue,
        keys=keys,
        max_rate=max_rate,
        max_rate_per_key=max_rate_per_key,
        window=window,
        snapshot=snapshot,
        conflate=conflate,
    ) as watch:
        try:
            for message in at_most(watch.messages(), count):
                write_json_lines([message] if has_messages else message.updates)
        finally:
            say_superseded(watch)


@dataclass(frozen=True, slots=True)
class Shown:
    """The newest update of one key, and how many there were."""

    update: ReceivedUpdate
    received_at: float
    updates: int


class Picture:
    """The newest value of every key, in the order of their updates. O(1) per update."""

    __slots__ = ("_keys", "_superseded", "_updates")

    def __init__(self) -> None:
        self._keys: dict[Key, Shown] = {}
        self._superseded = self._updates = 0

    def apply(self, message: WatchMessage, now: float) -> None:
        """Apply the updates of a message."""
        if message.is_reset:
            self._keys.clear()
        self._superseded += message.superseded
        for update in message.updates:
            self._updates += 1
            known = self._keys.pop(update.key, None)
            if not update.is_deleted:
                updates = 1 if known is None else known.updates + 1
                self._keys[update.key] = Shown(update, now, updates)

    def table(self, queue: str, *, rows: int, width: int, now: float) -> Table:
        """Return a table of the keys that changed last; long values are shortened to fit."""
        numbers = ("updates", "for")
        table = table_with("key", "value", *numbers, right=numbers)
        # A copy, because another thread may apply a message meanwhile.
        keys = list(self._keys.values())
        table.title = f"{queue}: {counted(len(keys), 'key')}, {counted(self._updates, 'update')}"
        if self._superseded:
            table.title += f", {self._superseded:,} left out"
        table.title_justify = "left"
        for shown in keys[: -rows - 1 : -1]:
            add_row(
                table,
                key_text(shown.update.key),
                value_text(shown.update.value),
                f"{shown.updates:,}",
                duration(now - shown.received_at),
            )
        return fit(table, width, elastic=1)


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
