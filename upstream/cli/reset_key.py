"""`upstream reset`: forget what is known of a key, so that its next update is accepted."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import Json, JsonKey, StreamName, key_of
from .connection import connected
from .formatting import key_text
from .output import say, write_json


def reset_key(
    context: typer.Context,
    *,
    stream: StreamName,
    key: Annotated[str, typer.Argument(metavar="KEY")],
    is_json_key: JsonKey = False,
    is_json: Json = False,
) -> None:
    """Forget the newest value and time of a key at once: its next update is accepted.

    Use it after an update with a time far in the future, which makes all later updates of the key
    late. Waiting updates of the key are dropped; consumers keep their value until the next one.
    """
    with connected(context) as client:
        was_known = client.reset_key(stream, key_of(key, is_json=is_json_key))
    if is_json:
        write_json({"reset": was_known})
    elif was_known:
        say(f"Key {key_text(key)} is reset.")
    else:
        say(f"Key {key_text(key)} is not known; there is nothing to reset.")
