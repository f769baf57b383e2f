"""The options of `upstream watch` and `upstream tail`: which updates are pushed, and how fast."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal, TypeAlias

import typer
from msgspec.structs import replace

from upstream.client import Watch, WatchMessage
from upstream.push_limits import DEFAULT_WINDOW, MOST_WINDOW

from .arguments import positive
from .connection import connected
from .formatting import count as counted
from .formatting import duration
from .output import say

Keys: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--keys", "-k", metavar="PATTERN", help="Only keys that match, such as GO*. Repeatable."
    ),
]
MaxRate: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-rate",
        callback=positive,
        metavar="RATE",
        help="Updates per second over all keys. A message may hold many updates.",
    ),
]
MaxRatePerKey: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--max-rate-per-key",
        metavar="[PATTERN:]RATE",
        help="Updates per second of each key, such as 1, GOOG:1 or GM:1/3600. Repeatable.",
    ),
]
Window: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_WINDOW,
        help="How many messages the service may send ahead of the reader. "
        f"[default: {DEFAULT_WINDOW}, or as the service is configured]",
    ),
]
Count: TypeAlias = Annotated[
    int | None, typer.Option("--count", "-n", min=1, help="Stop after this many updates.")
]
Snapshot: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--snapshot/--no-snapshot", help="Begin with the newest values, or only with what changes."
    ),
]
Conflate: TypeAlias = Annotated[
    Literal["auto", "never"],
    typer.Option(
        "--conflate",
        help="never: end with an error, instead of leaving out updates of an append queue.",
    ),
]


@contextmanager
def watched(
    context: typer.Context,
    queue: str,
    *,
    keys: Sequence[str] | None,
    max_rate: float | None,
    max_rate_per_key: Sequence[str] | None,
    window: int | None,
    snapshot: bool,
    conflate: Literal["auto", "never"],
) -> Iterator[Watch]:
    """Yield a watch with these options, which reports lost connections."""
    with (
        connected(context) as client,
        client.watch(
            queue,
            keys=keys or (),
            max_rate=max_rate,
            max_rate_per_key=rates_by_pattern(max_rate_per_key or ()) or None,
            window=window,
            snapshot=snapshot,
            conflate=conflate,
            on_lost=_say_no_connection,
        ) as watch,
    ):
        yield watch


def at_most(messages: Iterator[WatchMessage], count: int | None) -> Iterator[WatchMessage]:
    """Yield messages until they have `count` updates; the last message is shortened to fit."""
    left = count
    for message in messages:
        yield replace(message, updates=message.updates[:left])
        if left is not None:
            left -= len(message.updates)
            if left <= 0:
                return


def say_superseded(watch: Watch) -> None:
    """Report how many updates were left out, if any."""
    if watch.superseded:
        left_out = counted(watch.superseded, "update")
        say(f"Left out {left_out}: this reader was too slow, and newer updates replaced them.")


def rates_by_pattern(options: Sequence[str]) -> dict[str, float]:
    """Return the rates by pattern; a rate without a pattern is for every key.

    >>> rates_by_pattern(["GOOG:1", "GM:1/3600", "5"])
    {'GOOG': 1.0, 'GM': 0.0002777777777777778, '*': 5.0}
    """
    rates = {}
    for option in options:
        pattern, colon, number = option.rpartition(":")
        rates[pattern if colon else "*"] = _rate(number, option)
    return rates


def _rate(text: str, option: str) -> float:
    number, slash, seconds = text.partition("/")
    try:
        rate = float(number) / (float(seconds) if slash else 1.0)
    except (ValueError, ZeroDivisionError):
        rate = math.nan
    if not (math.isfinite(rate) and rate > 0):
        raise typer.BadParameter(
            f"{option} is not a rate such as 1, GOOG:1 or GM:1/3600",
            param_hint="--max-rate-per-key",
        )
    return rate


def _say_no_connection(error: Exception, delay: float) -> None:
    reason = str(error) or type(error).__name__
    say(f"The connection was lost ({reason}); trying again in {duration(delay)}.")
