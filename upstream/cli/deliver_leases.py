"""`upstream deliver`: tell that updates have been used."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from .arguments import Json, QueueName
from .connection import connected
from .output import say, write_json

Leases: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="LEASE...", help="As `upstream dequeue` printed them.")
]


def deliver_leases(
    context: typer.Context, *, queue: QueueName, leases: Leases, is_json: Json = False
) -> None:
    """Tell that updates have been used, which `upstream dequeue --no-deliver` printed with leases.

    What is not delivered in time waits again; such a lease is not known any more.
    """
    with connected(context) as client:
        delivered = client.deliver(queue, leases=leases)
    if is_json:
        write_json(delivered)
    else:
        say(f"{delivered.delivered:,} delivered, {delivered.unknown:,} not known.")
