"""Keys: strings, integers of 64 bits with a sign, and tuples of 1 to 16 of these."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final, cast

import msgspec

from upstream import Key

from . import reasons
from .errors import InvalidKeyError
from .reasons import Limits

MOST_PARTS: Final = 16
LEAST_INTEGER: Final = -(2**63)
GREATEST_INTEGER: Final = 2**63 - 1


@lru_cache(maxsize=16)
def key_type(limits: Limits) -> object:
    """Return the type of keys for the decoders of bodies."""
    text = Annotated[str, msgspec.Meta(max_length=limits.key_bytes)]
    integer = Annotated[int, msgspec.Meta(ge=LEAST_INTEGER, le=GREATEST_INTEGER)]
    part = text | integer
    composite = Annotated[
        tuple[part, ...],
        msgspec.Meta(min_length=1, max_length=MOST_PARTS),
    ]
    return part | composite


def has_nul(key: Key) -> bool:
    """Tell whether a string of the key contains NUL, where databases and terminals cut."""
    if isinstance(key, tuple):
        return any(map(has_nul, key))
    return isinstance(key, str) and "\0" in key


def any_has_nul(keys: list[Key]) -> bool:
    """Tell whether any string of these keys contains NUL."""
    try:
        return "\0" in "".join(cast(list[str], keys))
    except TypeError:  # not all are strings
        return any(map(has_nul, keys))


def read_key(value: object, limits: Limits) -> Key:
    """Return a decoded JSON value as a key; InvalidKeyError if it is not a key."""
    try:
        key: Key = msgspec.convert(value, cast(type[Key], key_type(limits)))
    except (msgspec.ValidationError, RecursionError):
        raise InvalidKeyError(reasons.bad_key(limits)) from None
    if has_nul(key):
        raise InvalidKeyError(f"key: {reasons.NUL}")
    return key


def read_path_key(text: str, *, as_json: bool, limits: Limits) -> Key:
    """Return the key in a path: the text itself, or the text read as JSON."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InvalidKeyError(f"key: {reasons.NOT_UTF8}") from None
    if not as_json:
        return read_key(text, limits)
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        raise InvalidKeyError(
            "key: expected JSON: a string, an integer, or a list of these"
        ) from None
    return read_key(value, limits)
