"""`upstream rm` and `upstream reset`: remove a stream, a queue or a key, or forget a key.

Ctrl-C ends the question in a terminal at any moment. `input()` does some work between its prompt
and the system call that waits for a line. A signal that arrives in between does not end the wait,
because Python handles it only after the next line. So the question waits for the terminal and for
Python's signal wakeup file at once, and reads afterwards.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import Annotated, TypeAlias

import typer

from .arguments import Json, JsonKey, QueueName, StreamName, key_of
from .connection import INTERRUPTED, REFUSED, connected
from .formatting import count, key_text
from .output import report, say

ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}

Yes: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--yes", "-y", help="Skip the confirmation prompt, which is shown in terminals only."
    ),
]
KeyArgument: TypeAlias = Annotated[str, typer.Argument(metavar="KEY", help="A string.")]


def remove_stream(
    context: typer.Context, *, name: StreamName, is_sure: Yes = False, is_json: Json = False
) -> None:
    """Remove a stream and its queues, and drop all waiting updates.

    With --json, the output has the final counters of the queues.

    For example:

    - `upstream rm stream prices --yes`
    """
    _make_sure(f"Remove stream {name}, its queues and their updates?", is_sure=is_sure)
    with connected(context) as client:
        dropped = client.drop_stream(name)
    report(
        dropped,
        f"Removed stream {name} and {count(len(dropped.queues), 'queue')}.",
        is_json=is_json,
    )


def remove_queue(
    context: typer.Context, *, name: QueueName, is_sure: Yes = False, is_json: Json = False
) -> None:
    """Remove a queue, drop its waiting updates, and keep its stream.

    With --json, the output has the final counters of the queue.

    For example:

    - `upstream rm queue prices --yes`
    """
    _make_sure(f"Remove queue {name} and its waiting updates?", is_sure=is_sure)
    with connected(context) as client:
        dropped = client.drop_queue(name)
    report(dropped, f"Removed queue {name}.", is_json=is_json)


def remove_key(
    context: typer.Context,
    *,
    stream: StreamName,
    key: KeyArgument,
    is_json_key: JsonKey = False,
    is_json: Json = False,
) -> None:
    """Delete a key: each queue hands out the deletion, then the key is forgotten.

    For example:

    - `upstream rm key prices IBM`
    """
    with connected(context) as client:
        counts = client.delete(stream, key_of(key, is_json=is_json_key))
    report(counts, f"Deleted key {key_text(key)}.", is_json=is_json)


def reset_key(
    context: typer.Context,
    *,
    stream: StreamName,
    key: KeyArgument,
    is_json_key: JsonKey = False,
    is_json: Json = False,
) -> None:
    """Forget the newest value and time of a key, so that its next update is accepted.

    Use it after an update with a time far in the future, which makes all later updates of the key
    late. Waiting updates of the key are dropped. Consumers keep their value until the next update.

    For example:

    - `upstream reset prices IBM`
    """
    with connected(context) as client:
        was_known = client.reset_key(stream, key_of(key, is_json=is_json_key))
    said = f"Key {key_text(key)} is unknown; there is nothing to reset."
    if was_known:
        said = f"Reset key {key_text(key)}."
    report({"reset": was_known}, said, is_json=is_json)


def _make_sure(question: str, *, is_sure: bool) -> None:
    if is_sure or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    try:
        is_sure = is_agreed(question)
    except (KeyboardInterrupt, EOFError):
        raise typer.Exit(INTERRUPTED) from None
    if not is_sure:
        raise typer.Exit(REFUSED)


def is_agreed(question: str) -> bool:
    """Ask until the answer is yes or no; an empty answer means no.

    Raises KeyboardInterrupt on Ctrl-C, and EOFError when the input ends.
    """
    while True:
        sys.stderr.write(f"{question} [y/N]: ")
        sys.stderr.flush()
        _wait_for_line()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        answer = ANSWERS.get(line.strip().lower())
        if answer is not None:
            return answer
        say("Error: please answer y or n")


def _wait_for_line() -> None:
    """Wait until a line can be read; signal handlers run meanwhile."""
    if sys.platform == "win32":
        return  # select() takes only sockets there, and Ctrl-C ends a read from the console
    signals, written = os.pipe()
    os.set_blocking(written, False)
    before = signal.set_wakeup_fd(written)
    try:
        while sys.stdin not in select.select([sys.stdin, signals], [], [])[0]:
            os.read(signals, 1)
    finally:
        signal.set_wakeup_fd(before)
        os.close(written)
        os.close(signals)
