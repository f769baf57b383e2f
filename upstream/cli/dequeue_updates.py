"""`upstream dequeue`: take the next updates."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from .arguments import Json, QueueName
from .connection import connected
from .output import write_json_lines

Limit: TypeAlias = Annotated[
    int, typer.Option("--limit", "-n", min=1, help="Take at most so many.")
]
Wait: TypeAlias = Annotated[
    float,
    typer.Option(
        "--wait", "-w", min=0.0, metavar="SECONDS", help="Wait so long if there are none."
    ),
]
Deliver: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--deliver/--no-deliver",
        help="With leases: whether what was printed counts as delivered, or waits again later.",
    ),
]


def dequeue_updates(
    context: typer.Context,
    *,
    queue: QueueName,
    limit: Limit = 100,
    wait: Wait = 0.0,
    is_delivered: Deliver = True,
    is_json: Json = False,
) -> None:
    """Take the next updates out of a queue, and print each as a line of JSON.

    The queue says which are next: those that keep the whole picture freshest. Prints nothing if
    none waits. `"deleted": true` is the news that a key was deleted. With --json: one list.

    By default the service gives at most 10,000 updates at once and waits for 60 seconds at most.
    Without leases, what was handed out to a command that is interrupted is gone. With
    --no-deliver, `upstream deliver QUEUE LEASE...` tells what was used.
    """
    with connected(context) as client:
        updates = client.dequeue(queue, limit=limit, wait=wait)
        if is_json:
            write_json_lines([{"updates": updates}])
        else:
            write_json_lines(updates)
        leases = [each.lease for each in updates if each.lease is not None]
        if is_delivered and leases:
            client.deliver(queue, leases=leases)
