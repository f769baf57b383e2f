"""The arguments and options that several commands share, and how keys and values are read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec
import typer

from upstream.client import Key
from upstream.client.retries import LONGEST_SECONDS, is_wait

from .name_completion import complete_queue, complete_stream

StreamName: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="STREAM", help="The stream's name.", autocompletion=complete_stream),
]
QueueName: TypeAlias = Annotated[
    str, typer.Argument(metavar="QUEUE", help="The queue's name.", autocompletion=complete_queue)
]
NewName: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="Letters, digits and any of . _ - in between.")
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs, and nothing else.")
]
JsonKey: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json-key", "-j", help='KEY is JSON: 7 is a number, ["NYSE", 7] a composite key.'
    ),
]

_read_key: Callable[[str], Key] = msgspec.json.Decoder(Key).decode


def key_of(text: str, *, is_json: bool) -> Key:
    """Return the key that an argument means."""
    if not is_json:
        return text
    try:
        return _read_key(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise typer.BadParameter(
            "with --json-key it must be a JSON string, integer, or list of these",
            param_hint="KEY",
        ) from None


def value_of(text: str, *, is_raw: bool) -> object:
    """Return the value that an argument means: as JSON, or else, or raw, the text itself.

    >>> value_of("up 3 %", is_raw=False), value_of("24.0", is_raw=True)
    ('up 3 %', '24.0')
    >>> bytes(value_of("24.0", is_raw=False))
    b'24.0'
    """
    if is_raw:
        return text
    try:
        return msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text


def waitable(seconds: float | None) -> float | None:
    """Return a time to wait that is above zero and not too long; else that is a usage error."""
    if seconds is not None and not is_wait(seconds):
        raise typer.BadParameter(
            f"{seconds:g} is not a number of seconds above zero, at most {LONGEST_SECONDS:,.0f}."
        )
    return seconds


def positive(number: float | None) -> float | None:
    """Return a number that is finite and above zero; anything else is a usage error."""
    if number is not None and not (math.isfinite(number) and number > 0):
        raise typer.BadParameter(f"{number:g} is not a finite number above zero.")
    return number
