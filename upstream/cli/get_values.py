"""`upstream get`: newest values."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from upstream.client import ReceivedUpdate

from .arguments import Json, JsonKey, StreamName, key_of
from .connection import connected
from .formatting import value_text
from .output import write_json, write_json_lines, write_line

KeyArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="KEY", help="A string; none: all keys.", show_default=False),
]
Raw: TypeAlias = Annotated[
    bool, typer.Option("--raw", help="Print a string as it is, without quotes.")
]


def get_values(
    context: typer.Context,
    *,
    stream: StreamName,
    key: KeyArgument = None,
    is_json_key: JsonKey = False,
    is_raw: Raw = False,
    is_json: Json = False,
) -> None:
    """Print the newest value of a key, as JSON. Without KEY, print all keys, a JSON line for each.

    Exit code 1 if there is no such stream or key. With --json: key, value and time.
    """
    with connected(context) as client:
        if key is None:
            write_json_lines(client.snapshot(stream))
            return
        update = client.get(stream, key_of(key, is_json=is_json_key))
    if is_json:
        write_json(update)
    else:
        write_line(_text(update, is_raw=is_raw))


def _text(update: ReceivedUpdate, *, is_raw: bool) -> str:
    is_plain = is_raw and isinstance(update.value, str)
    return str(update.value) if is_plain else value_text(update.value)
