"""`upstream create stream`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from upstream.client import StreamOptions

from .arguments import Json, NewName, positive
from .connection import connected
from .output import say, write_json

Retain: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--retain/--no-retain",
        help="Keep the newest value of a key for ever, or only while it waits somewhere.",
    ),
]
ForgetAfter: TypeAlias = Annotated[
    float | None,
    typer.Option(callback=positive, metavar="SECONDS", help="Forget keys not updated for so long."),
]
PoolBytes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="BYTES", help="Hold all values in a pool this large; full, it takes no key."
    ),
]
MostAhead: TypeAlias = Annotated[
    float | None,
    typer.Option(
        callback=positive,
        metavar="SECONDS",
        help="Reject times further ahead of the service's clock. By default a day, for streams "
        "whose times are near that clock.",
    ),
]
AnyTime: TypeAlias = Annotated[
    bool, typer.Option("--any-time", help="Accept all times, however far ahead.")
]


def create_stream(
    context: typer.Context,
    *,
    name: NewName,
    retain: Retain = None,
    forget_after: ForgetAfter = None,
    pool_bytes: PoolBytes = None,
    most_ahead: MostAhead = None,
    takes_any_time: AnyTime = False,
    is_json: Json = False,
) -> None:
    """Create a stream, which is what updates are put into.

    The same again changes nothing; if it is there and different, that is refused (exit code 1).
    """
    if takes_any_time and most_ahead is not None:
        raise typer.BadParameter("--any-time and --most-ahead contradict each other; give one")
    options: StreamOptions = {}
    if retain is not None:
        options["retain"] = retain
    if forget_after is not None:
        options["forget_after"] = forget_after
    if pool_bytes is not None:
        options["pool_bytes"] = pool_bytes
    if takes_any_time:
        options["most_ahead"] = None
    elif most_ahead is not None:
        options["most_ahead"] = most_ahead
    with connected(context) as client:
        view = client.create_stream(name, **options)
    if is_json:
        write_json(view)
    else:
        say(f"Stream {view.name} is there.")
