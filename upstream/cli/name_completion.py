"""Names of streams and queues for the shell's completion, asked of the service.

A completion that fails or takes long is worse than none: no message, no retry, half a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import typer

from upstream.client import Client
from upstream.errors import UpStreamError

from .formatting import count

PATIENCE_SECONDS: Final = 0.5
Completions = list[tuple[str, str]]
"""Names, and what there is to know about each."""

T = TypeVar("T")


def complete_stream(context: typer.Context, incomplete: str) -> Completions:
    """Return the streams whose names begin like this."""
    return _ask(context, incomplete, _streams)


def complete_queue(context: typer.Context, incomplete: str) -> Completions:
    """Return the queues whose names begin like this."""
    return _ask(context, incomplete, _queues)


def _ask(
    context: typer.Context, incomplete: str, names: Callable[[Client], Completions]
) -> Completions:
    url = context.find_root().params.get("server")
    try:
        with Client(str(url), timeout=PATIENCE_SECONDS, retries=0) as client:
            return [found for found in names(client) if found[0].startswith(incomplete)]
    except UpStreamError:
        return []


def _streams(client: Client) -> Completions:
    return [(each.name, count(each.keys, "key")) for each in client.streams()]


def _queues(client: Client) -> Completions:
    return [(each.name, f"{each.kind} queue of {each.stream}") for each in client.queues()]
