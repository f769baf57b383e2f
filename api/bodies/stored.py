"""Stored values: JSON text as bytes, a `PackedValue`, TOMBSTONE, or a Python object from Arrow.

A value is stored as it came in, and converted when an answer needs another form.
"""

from __future__ import annotations

from typing import Final

import msgspec

from upstream import TOMBSTONE, ValueNotEncodableError

_from_json: Final = msgspec.json.Decoder().decode
_to_json: Final = msgspec.json.Encoder().encode
_from_messagepack: Final = msgspec.msgpack.Decoder().decode

_JSON: Final = b"j"
_PACKED: Final = b"m"
_PYTHON: Final = b"p"
_to_messagepack: Final = msgspec.msgpack.Encoder().encode
_SCALAR_BYTES: Final = 8


class PackedValue(bytes):
    r"""A value in MessagePack; a value of type bytes is JSON.

    >>> PackedValue(b"\xc3") == msgspec.msgpack.encode(True)
    True
    """

    __slots__ = ()


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
    """Return about how many bytes a key or stored value takes in an answer.

    O(1), except for composite keys and values from Arrow.
    """
    if isinstance(stored, bytes | str):
        return len(stored)
    if isinstance(stored, list | tuple):
        return sum(map(stored_length, stored)) + len(stored)
    if isinstance(stored, dict):
        return sum(len(name) + 4 + stored_length(member) for name, member in stored.items())
    return _SCALAR_BYTES


class StoredValueCodec:
    """An `upstream.memory.Codec` for stored values: one byte says which kind it is.

    >>> codec = StoredValueCodec()
    >>> codec.encode(b"1.10"), codec.decode(codec.encode({"bid": 24.0}))
    (b'j1.10', {'bid': 24.0})
    """

    __slots__ = ()

    def encode(self, value: object) -> bytes:
        """Return a stored value as bytes; raises ValueNotEncodableError for anything else."""
        if type(value) is bytes:
            return _JSON + value
        if type(value) is PackedValue:
            return _PACKED + value
        try:
            return _PYTHON + _to_messagepack(value)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValueNotEncodableError(value, str(error)) from error

    def decode(self, data: bytes) -> object:
        """Return the value that `data` was encoded from."""
        kind, encoded = data[:1], data[1:]
        if kind == _JSON:
            return encoded
        if kind == _PACKED:
            return PackedValue(encoded)
        return _from_messagepack(encoded)
