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
    say_superseded,
    watch,
)

Messages: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--messages",
        help='Print whole messages, with id, "reset": true where a new picture begins, and '
        '"superseded": how many updates were left out before it.',
    ),
]


def tail_queue(
    context: typer.Context,
    *,
    queue: QueueName,
    keys: Keys = None,
    max_rate: MaxRate = None,
    max_rate_per_key: MaxRatePerKey = None,
    window: Window = None,
    snapshot: Snapshot = True,
    count: Count = None,
    has_messages: Messages = False,
) -> None:
    """Print updates as they are pushed, each as a line of JSON, until interrupted.

    The queue is left as it is: each reader has a queue of its own. One that reads slowly gets fewer
    updates, not older ones. Of an append queue every update is printed while no more than 10,000
    wait for this reader; then only the newest of each key are kept. In the end it is said how many
    were left out, and --messages tells it as it happens. A connection that is lost is made again,
    and the newest value of no key is missed.
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
        try:
            for message in at_most(watched.messages(), count):
                write_json_lines([message] if has_messages else message.updates)
        finally:
            say_superseded(watched)
