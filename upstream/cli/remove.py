"""`upstream rm`: remove a stream, a queue, or a key."""

from __future__ import annotations

import sys
from typing import Annotated, TypeAlias

import typer

from .arguments import Json, JsonKey, QueueName, StreamName, key_of
from .connection import INTERRUPTED, REFUSED, connected
from .formatting import count, key_text
from .output import say, write_json
from .question import is_agreed

Yes: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask, which is done in terminals only.")
]


def remove_stream(
    context: typer.Context, *, name: StreamName, is_sure: Yes = False, is_json: Json = False
) -> None:
    """Remove a stream and its queues, discarding waiting updates. --json: final counters."""
    _make_sure(f"Remove stream {name}, its queues, and all that they hold?", is_sure=is_sure)
    with connected(context) as client:
        dropped = client.drop_stream(name)
    if is_json:
        write_json(dropped)
    else:
        say(f"Stream {name} is gone, and {count(len(dropped.queues), 'queue')} with it.")


def remove_queue(
    context: typer.Context, *, name: QueueName, is_sure: Yes = False, is_json: Json = False
) -> None:
    """Remove a queue, discard its waiting updates, and keep its stream. --json: final counters."""
    _make_sure(f"Remove queue {name}, and all that waits there?", is_sure=is_sure)
    with connected(context) as client:
        dropped = client.drop_queue(name)
    if is_json:
        write_json(dropped)
    else:
        say(f"Queue {name} is gone.")


def remove_key(
    context: typer.Context,
    *,
    stream: StreamName,
    key: Annotated[str, typer.Argument(metavar="KEY")],
    is_json_key: JsonKey = False,
    is_json: Json = False,
) -> None:
    """Delete a key: each queue hands out the deletion, then the key is forgotten."""
    with connected(context) as client:
        counts = client.delete(stream, key_of(key, is_json=is_json_key))
    if is_json:
        write_json(counts)
    else:
        say(f"Key {key_text(key)} is deleted.")


def _make_sure(question: str, *, is_sure: bool) -> None:
    if is_sure or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    try:
        is_sure = is_agreed(question)
    except (KeyboardInterrupt, EOFError):
        raise typer.Exit(INTERRUPTED) from None
    if not is_sure:
        raise typer.Exit(REFUSED)
