"""Stored values in a page pool: which of the three kinds it is in one byte, then the value."""

from __future__ import annotations

from typing import Final

import msgspec

from upstream import ValueNotEncodableError

from .packed_values import PackedValue

_JSON: Final = b"j"
_PACKED: Final = b"m"
_PYTHON: Final = b"p"
_to_messagepack: Final = msgspec.msgpack.Encoder().encode
_from_messagepack: Final = msgspec.msgpack.Decoder().decode


class StoredValueCodec:
    """An `upstream.memory.Codec` for what is stored, see `stored`.

    >>> codec = StoredValueCodec()
    >>> codec.encode(b"1.10"), codec.decode(codec.encode({"bid": 24.0}))
    (b'j1.10', {'bid': 24.0})
    """

    __slots__ = ()

    def encode(self, value: object) -> bytes:
        """Return `value` as bytes; ValueNotEncodableError if it is nothing that is stored."""
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
