"""`upstream dequeue` and `upstream deliver`: take updates, and report them as processed."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from .arguments import Json, QueueName
from .connection import connected
from .output import report, write_json_lines

Limit: TypeAlias = Annotated[
    int, typer.Option("--limit", "-n", min=1, help="Take at most this many updates.")
]
Wait: TypeAlias = Annotated[
    float,
    typer.Option(
        "--wait", "-w", min=0.0, metavar="SECONDS", help="Wait this long if no update is waiting."
    ),
]
Deliver: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--deliver/--no-deliver",
        help="If the queue grants leases: deliver the updates once they are printed, or leave "
        "that to `upstream deliver`.",
    ),
]
Leases: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="LEASE...", help="Leases that `upstream dequeue` printed.")
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
    """Take the next updates from a queue, and print each as a line of JSON.

    The queue decides which updates are next, to keep the values fresh. Nothing is printed if none
    is waiting. `"deleted": true` means that the key was deleted. With --json, the output is one
    list.

    By default the service hands out at most 10,000 updates at once and waits at most 60 seconds.
    If the command is interrupted, updates that it took are lost, unless the queue grants leases.
    After --no-deliver, report the processed updates with `upstream deliver QUEUE LEASE...`.

    For example:

    - `upstream dequeue prices --limit 10 --wait 5`
    """
    with connected(context) as client:
        updates = client.dequeue(queue, limit=limit, wait=wait)
        write_json_lines([{"updates": updates}] if is_json else updates)
        leases = [each.lease for each in updates if each.lease is not None]
        if is_delivered and leases:
            client.deliver(queue, leases=leases)


def deliver_leases(
    context: typer.Context, *, queue: QueueName, leases: Leases, is_json: Json = False
) -> None:
    """Report updates as processed, by the leases that `dequeue --no-deliver` printed.

    An update that is not delivered in time waits again, and its lease is then unknown.

    For example:

    - `upstream deliver QUEUE LEASE...`
    """
    with connected(context) as client:
        delivered = client.deliver(queue, leases=leases)
    report(
        delivered,
        f"{delivered.delivered:,} delivered, {delivered.unknown:,} unknown.",
        is_json=is_json,
    )
