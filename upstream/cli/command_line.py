"""The command line: its commands, and the options that all of them share."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import NegativeNumbersCommand, waitable
from .bench import bench
from .connection import DEFAULT_URL, Service
from .create import create_queue, create_stream
from .dequeue import deliver_leases, dequeue_updates
from .put_updates import put_updates
from .remove import remove_key, remove_queue, remove_stream, reset_key
from .show import get_values, list_names, show_staleness
from .top import top
from .version_option import Version
from .watch import tail_queue, watch_queue

HELP = """Inspect an UpStream service, send updates to it, and read from it.

A stream accepts updates of keys and keeps the newest value of each key. The queues of a stream hand
out those values, one key at a time, in the order that keeps them fresh.

First steps:

    upstream create queue prices

    upstream put prices IBM 24.5

    upstream get prices IBM

    upstream dequeue prices

    upstream watch prices

Data goes to the standard output; messages and progress go to the error output. Exit codes: 0
success, 1 the service refused something, 2 the command line is invalid, 3 the service cannot be
reached or cannot answer now, 130 interrupted.
"""

Server = Annotated[
    str,
    typer.Option(
        "--server", "-s", envvar="UPSTREAM_URL", metavar="URL", help="The address of the service."
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        callback=waitable,
        metavar="SECONDS",
        help="How long each step of a request may take, not counting waits for updates.",
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
    """Remember the options that all commands share."""
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
