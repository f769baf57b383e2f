"""`upstream tail`: what is pushed, as it comes."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from .arguments import QueueName
from .connection import connected
from .output import write_json_lines
from .push_options import (
    Count,
    Keys,
    MaxRate,
    MaxRatePerKey,
    Snapshot,
    Window,
    at_most,
    watch,
)

Messages: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--messages",
        help='Print whole messages, with id, and "reset": true where a new picture begins.',
    ),
]


def tail_queue(
    context: typer.Context,
    *,
    queue: QueueName,
    keys: Keys = None,
    max_rate: MaxRate = None,
    max_rate_per_key: MaxRatePerKey = None,
    window: Window = 8,
    snapshot: Snapshot = True,
    count: Count = None,
    has_messages: Messages = False,
) -> None:
    """Print updates as they are pushed, each as a line of JSON, until interrupted.

    The queue is left as it is: each reader has a queue of its own. One that reads slowly gets fewer
    updates, not older ones. A connection that is lost is made again, and nothing is missed.
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
        for message in at_most(watched.messages(), count):
            write_json_lines([message] if has_messages else message.updates)
