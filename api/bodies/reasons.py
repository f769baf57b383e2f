"""The limits of bodies, and why a row is rejected.

A reason repeats nothing of the row except a member's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from ..unknown_names import unknown_name

NOT_AN_UPDATE: Final = "expected an object with key, value and time, or a row [key, time, value]"
ROW_LENGTH: Final = "expected three members in a row: [key, time, value]"
MISSING_MEMBER: Final = "an update needs a key and a value"
MEMBERS: Final = ("key", "value", "time")
SYNTAX: Final = "not valid JSON or MessagePack: a syntax error, or half of a surrogate pair"
NOT_UTF8: Final = "the text is not valid UTF-8"
NUL: Final = "the text must not contain the character NUL"
TIME: Final = "time: expected a finite number of seconds, or null for the service's time"
NUMBER_RANGE: Final = "value: a number does not fit into a 64-bit integer or float"
NOT_JSON: Final = (
    "value: not representable in JSON; use null, booleans, finite numbers, strings, lists, and "
    "maps with strings as keys"
)


_UNKNOWN: Final = "Object contains unknown field `"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on updates. The service limits the length of a whole body itself."""

    key_bytes: int = 1024
    """Of each string of a key, counted in characters."""
    value_bytes: int = 1 << 20
    """Of an encoded value."""
    depth: int = 64
    """Of nested lists and objects in a value."""
    rows: int = 1_000_000
    """Of a body."""


def bad_key(limits: Limits) -> str:
    """Return the reason for a bad key: what is expected."""
    return (
        f"key: expected a string of at most {limits.key_bytes} characters, a signed 64-bit "
        "integer, or a list of 1 to 16 of these"
    )


def too_deep(limits: Limits) -> str:
    """Return the reason for a value that is nested too deeply."""
    return f"value: nested deeper than {limits.depth} levels"


def too_long(limits: Limits) -> str:
    """Return the reason for a value that is too long."""
    return f"value: longer than {limits.value_bytes} bytes"


def of_error(error: Exception, limits: Limits) -> str:
    """Return the reason for an error that decoding a row raised."""
    if isinstance(error, RecursionError):
        return too_deep(limits)
    if isinstance(error, UnicodeDecodeError):
        return NOT_UTF8
    if not isinstance(error, msgspec.ValidationError):
        return SYNTAX
    message = str(error)
    if message.startswith("Object missing"):
        return MISSING_MEMBER
    if message.startswith(_UNKNOWN):
        return unknown_name("member", message[len(_UNKNOWN) :].rpartition("`")[0], MEMBERS)
    # The message ends with the path of the wrong member.
    path = message.rpartition("`$")[2]
    if path.startswith((".key", "[0]")):
        return bad_key(limits)
    if path.startswith((".time", "[1]")):
        return TIME
    if message.startswith("Expected `array` of length"):
        return ROW_LENGTH
    return NOT_AN_UPDATE
