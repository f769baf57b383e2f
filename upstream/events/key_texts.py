"""Keys as text: keys that are equal have one text, other keys have other texts, and each is a line.

A string is its own text. Any other key is JSON, and so is a string that could be taken for JSON or
is not one line of UTF-8. Keys that are equal in Python are one key to a queue, such as 1, 1.0 and
True; so they have the same text, whichever of them a writer happened to see.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Final
from uuid import UUID

from ..updates import Key

_NUMBER: Final = r"-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|Infinity)"
_LINE_ENDS: Final = "\x00-\x1f\x7f-\x9f\u2028\u2029"
"""Control characters, and what a reader of lines would take for the end of one."""
_AS_JSON: Final = re.compile(
    rf'$|[\["{{]|(?:{_NUMBER}|null|true|false|NaN)$|.*[{_LINE_ENDS}]', re.DOTALL
)
"""Matches a string that is written as JSON: an empty one, one that could be taken for JSON, and one
that is more than a line."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_UNWRITABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What JSON need not escape, though it ends a line or is not in UTF-8."""

_READ: Final[dict[str, Callable[[str], Key]]] = {
    "bytes": bytes.fromhex,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda text: int(text) * dt.timedelta.resolution,
    "Fraction": Fraction,
    "UUID": UUID,
}
"""How a key of a type that JSON does not have is read back, by the name of the type."""


def key_text(key: Key) -> str:
    """Return the text of a key: a string as it is, and everything else as JSON.

    Bytes, dates and the like are an object that names their type. A key of another type is written
    by its `repr`, which must be the same for equal keys; such a text cannot be read back.

    >>> key_text("IBM"), key_text(7), key_text("7"), key_text(("a", 1)), key_text(b"a")
    ('IBM', '7', '"7"', '["a",1]', '{"bytes":"61"}')
    """
    if isinstance(key, str) and not _AS_JSON.match(key) and not _SURROGATES.search(key):
        return str(key)
    text = json.dumps(_json_of(key), ensure_ascii=False, separators=(",", ":"))
    return _UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def key_of(text: str) -> Key:
    """Return the key that a text stands for; ValueError if its type cannot be read back.

    Some texts look like JSON and are not, as earlier versions wrote fewer strings as JSON. Each of
    them stands for itself.

    >>> key_of("IBM"), key_of("7"), key_of('"7"'), key_of('["a",1]'), key_of('{"bytes":"61"}')
    ('IBM', 7, '7', ('a', 1), b'a')
    """
    if not _AS_JSON.match(text):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return _key_of_json(found)


def _json_of(key: Key) -> object:
    """Return what JSON writes for a key."""
    if key is None or isinstance(key, str):
        return key
    if isinstance(key, tuple):
        return [_json_of(part) for part in key]
    if isinstance(key, Integral):
        return int(key)
    if isinstance(key, Decimal | Real):
        number = _as_float(key)
        if number is not None:
            return int(number) if number.is_integer() else number
        key = Fraction(key)
    name, text = _named(key)
    return {name: text}


def _named(key: Key) -> tuple[str, str]:
    """Return the name of the key's type, and the key as text."""
    match key:
        case bytes():
            return "bytes", key.hex()
        case dt.datetime() if type(key) is dt.datetime:  # others may count nanoseconds
            is_local = key.utcoffset() is None
            return "datetime", (key if is_local else key.astimezone(dt.UTC)).isoformat()
        case dt.date() if type(key) is dt.date:
            return "date", key.isoformat()
        case dt.time():
            return "time", key.isoformat()
        case dt.timedelta():
            return "timedelta", str(key // dt.timedelta.resolution)
        case Fraction():
            return "Fraction", str(key)
        case UUID():
            return "UUID", str(key)
    return type(key).__name__, repr(key)


def _as_float(number: Real | Decimal) -> float | None:
    """Return the float that equals a number, None if there is no such float."""
    try:
        found = float(number)
    except OverflowError:
        return None
    return found if found == number else None


def _key_of_json(found: object) -> Key:
    if isinstance(found, list):
        return tuple(_key_of_json(part) for part in found)
    if not isinstance(found, dict):
        return found
    name = next(iter(found), "")
    if len(found) != 1 or name not in _READ:
        raise ValueError(f"a key of type {name!r} cannot be read back")
    return _READ[name](found[name])
