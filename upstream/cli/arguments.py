"""The arguments and options that several commands share, and how they are parsed and completed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import takewhile
from typing import Annotated, Final, TypeAlias

import msgspec
import typer
from typer.core import TyperCommand

from upstream.client import Client, Key
from upstream.client.retries import LONGEST_SECONDS, is_wait
from upstream.errors import UpStreamError

from .formatting import count

PATIENCE_SECONDS: Final = 0.5
"""How long a completion may take. One that fails or takes longer shows nothing."""

Completions: TypeAlias = list[tuple[str, str]]
"""Names of streams or queues, each with a description."""

_NEGATIVE = re.compile(r"-\d+(\.\d+)?([eE][+-]?\d+)?")


def complete_stream(context: typer.Context, incomplete: str) -> Completions:
    """Return the streams whose names begin with this text."""
    return _ask(context, incomplete, _streams)


def complete_queue(context: typer.Context, incomplete: str) -> Completions:
    """Return the queues whose names begin with this text."""
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


StreamName: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="STREAM", help="The stream's name.", autocompletion=complete_stream),
]
QueueName: TypeAlias = Annotated[
    str, typer.Argument(metavar="QUEUE", help="The queue's name.", autocompletion=complete_queue)
]
NewName: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="Letters and digits, with any of . _ - between them.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
JsonKey: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json-key", "-j", help='Parse KEY as JSON: 7 is a number, ["NYSE", 7] is a composite key.'
    ),
]

_read_key: Callable[[str], Key] = msgspec.json.Decoder(Key).decode


def key_of(text: str, *, is_json: bool) -> Key:
    """Return the key for an argument."""
    if not is_json:
        return text
    try:
        return _read_key(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise typer.BadParameter(
            "with --json-key, KEY must be a JSON string, an integer, or a list of them",
            param_hint="KEY",
        ) from None


def value_of(text: str, *, is_raw: bool) -> object:
    """Return the value for an argument: parsed as JSON, or the text if that fails or `is_raw`.

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
    """Return a number of seconds that can be waited; anything else is a usage error."""
    if seconds is not None and not is_wait(seconds):
        raise typer.BadParameter(
            f"{seconds:g} is not a number of seconds above 0 and at most {LONGEST_SECONDS:,.0f}."
        )
    return seconds


def positive(number: float | None) -> float | None:
    """Return a finite number above 0; anything else is a usage error."""
    if number is not None and not (math.isfinite(number) and number > 0):
        raise typer.BadParameter(f"{number:g} is not a finite number above 0.")
    return number


class NegativeNumbersCommand(TyperCommand):
    """A command that takes `-5` as an argument; other words that begin with a dash are options."""

    def parse_args(  # type: ignore[override]
        self, ctx: typer.Context, args: list[str]
    ) -> list[str]:
        """Parse the command line; an unknown option is still a usage error."""
        options = set(filter(_is_like_an_option, takewhile(lambda each: each != "--", args)))
        ctx.ignore_unknown_options = any(map(_NEGATIVE.fullmatch, args))
        remaining = super().parse_args(ctx, args)
        for name, value in ctx.params.items():
            if value in options and name in _arguments(self):
                raise typer.BadParameter(f"No such option: {value}", ctx=ctx)
        return remaining


def _is_like_an_option(text: str) -> bool:
    return text.startswith("-") and text != "-" and not _NEGATIVE.fullmatch(text)


def _arguments(command: TyperCommand) -> set[str | None]:
    return {each.name for each in command.params if each.param_type_name == "argument"}
