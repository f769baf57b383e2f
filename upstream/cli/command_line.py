"""The commands and what they have in common; each lives in a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import waitable
from .bench import bench
from .connection import DEFAULT_URL, Service
from .create_queue import create_queue
from .create_stream import create_stream
from .deliver_leases import deliver_leases
from .dequeue_updates import dequeue_updates
from .get_values import get_values
from .list_names import list_names
from .negative_numbers import NegativeNumbersCommand
from .put_updates import put_updates
from .remove import remove_key, remove_queue, remove_stream
from .reset_key import reset_key
from .show_staleness import show_staleness
from .tail_queue import tail_queue
from .top import top
from .version_option import Version
from .watch_queue import watch_queue

HELP = """Look at an UpStream service, feed it, and read from it.

An update stream takes in updates of keys and holds the newest value of each. Queues on it hand the
keys out one by one, newest values only, in the order that keeps them fresh.

A first walk:

    upstream create queue prices

    upstream put prices IBM 24.5

    upstream get prices IBM

    upstream dequeue prices

    upstream watch prices

Data goes to the standard output, messages and progress to the error output. Exit codes: 0 all went
well, 1 the service refused something, 2 the command line makes no sense, 3 the service cannot be
reached or cannot answer now, 130 interrupted.
"""

Server = Annotated[
    str,
    typer.Option(
        "--server", "-s", envvar="UPSTREAM_URL", metavar="URL", help="Where the service is."
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        callback=waitable,
        metavar="SECONDS",
        help="How long each step of a call may take; waiting for updates does not count.",
    ),
]

_HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings=_HELP_OPTIONS,
)


@app.callback()
def choose_service(
    context: typer.Context,
    *,
    server: Server = DEFAULT_URL,
    timeout: Timeout = 30.0,
    _version: Version = False,
) -> None:
    """Note where the service is."""
    context.obj = Service(server, timeout)


create = typer.Typer(help="Create a stream or a queue.", no_args_is_help=True)
create.command("stream")(create_stream)
create.command("queue")(create_queue)

remove = typer.Typer(help="Remove a stream, a queue, or a key.", no_args_is_help=True)
remove.command("stream")(remove_stream)
remove.command("queue")(remove_queue)
remove.command("key", cls=NegativeNumbersCommand)(remove_key)

app.command("ls")(list_names)
app.add_typer(create, name="create", context_settings=_HELP_OPTIONS)
app.add_typer(remove, name="rm", context_settings=_HELP_OPTIONS)
app.command("put", cls=NegativeNumbersCommand)(put_updates)
app.command("get", cls=NegativeNumbersCommand)(get_values)
app.command("reset", cls=NegativeNumbersCommand)(reset_key)
app.command("dequeue")(dequeue_updates)
app.command("deliver")(deliver_leases)
app.command("watch")(watch_queue)
app.command("tail")(tail_queue)
app.command("top")(top)
app.command("staleness")(show_staleness)
app.command("bench")(bench)
