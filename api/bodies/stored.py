"""Stored values: JSON text as bytes, a `PackedValue`, TOMBSTONE, or a plain Python object.

What came in is stored as it came, and is turned into what an answer needs when there is one.
"""

from __future__ import annotations

from typing import Final

import msgspec

from upstream import TOMBSTONE

from .packed_values import PackedValue

_from_json: Final = msgspec.json.Decoder().decode
_to_json: Final = msgspec.json.Encoder().encode
_from_messagepack: Final = msgspec.msgpack.Decoder().decode

_SCALAR_BYTES: Final = 8


def json_value(stored: object) -> bytes:
    """Return a stored value as JSON text in one line; a deletion is `null`.

    >>> json_value(b"1.10"), json_value({"bid": 24.0}), json_value(TOMBSTONE)
    (b'1.10', b'{"bid":24.0}', b'null')
    """
    if type(stored) is bytes:
        return stored
    return _to_json(python_value(stored))


def python_value(stored: object) -> object:
    """Return a stored value decoded; a deletion is None."""
    if type(stored) is bytes:
        return _from_json(stored)
    if type(stored) is PackedValue:
        return _from_messagepack(stored)
    return None if stored is TOMBSTONE else stored


def stored_length(stored: object) -> int:
    """Return about how many bytes a key or stored value takes when it is written.

    O(1) but for composite keys and values of Arrow's.
    """
    if isinstance(stored, bytes | str):
        return len(stored)
    if isinstance(stored, list | tuple):
        return sum(map(stored_length, stored)) + len(stored)
    if isinstance(stored, dict):
        return sum(len(name) + 4 + stored_length(member) for name, member in stored.items())
    return _SCALAR_BYTES
