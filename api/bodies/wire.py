"""An update as the decoders return it: key and time are decoded, the value is still text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Protocol, TypeAlias, cast

import msgspec

from upstream import Key

from .keys import key_type
from .reasons import Limits

REFUSALS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoders raise for bytes that they cannot decode."""

_POSITION: Final = re.compile(r"\(byte ([0-9]+)\)")


def position_of(error: msgspec.DecodeError, body: bytes) -> int:
    """Return the byte of `body` where a decoder failed; its end if the body is cut off."""
    found = _POSITION.search(str(error))
    return int(found[1]) if found else len(body)


class WireUpdate(Protocol):
    """An update that was sent as an object."""

    key: Key
    value: msgspec.Raw
    time: float | None


WireRow: TypeAlias = tuple[Key, float | None, msgspec.Raw]
"""An update that was sent as a row."""


@lru_cache(maxsize=16)
def update_type(limits: Limits) -> type[WireUpdate]:
    """Return the type of updates that are objects.

    Their objects cannot be part of a cycle, so the garbage collector can ignore them.
    """
    return cast(
        type[WireUpdate],
        msgspec.defstruct(
            "Update",
            [
                ("key", key_type(limits)),
                ("value", msgspec.Raw),
                ("time", float | None, None),
            ],
            forbid_unknown_fields=True,
            gc=False,
        ),
    )


@lru_cache(maxsize=16)
def row_type(limits: Limits) -> type[WireRow]:
    """Return the type of updates that are rows."""
    row = tuple[key_type(limits), float | None, msgspec.Raw]  # type: ignore[misc,valid-type]
    return cast(type[WireRow], row)
