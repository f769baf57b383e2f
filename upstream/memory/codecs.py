"""Codecs turn values into the bytes that the page pool stores, and back.

A codec returns the value that it was given, or refuses it. If an encoder silently changed NaN to
null, a date to a string or the key 1 to "1", the consumer would see a value that the feed never
sent. So whatever msgspec encodes is decoded and compared before it is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from ..errors import ValueNotEncodableError
from ..extras import missing_extra

_REFUSALS = (TypeError, ValueError, OverflowError, RecursionError)
"""The exceptions of msgspec for values that it cannot encode."""


class Codec(Protocol):
    """Turn values into bytes and back."""

    def encode(self, value: object) -> bytes:
        """Return `value` as bytes; a value that cannot be encoded raises ValueNotEncodableError."""
        ...

    def decode(self, data: bytes) -> object:
        """Return the value that `data` was encoded from."""
        ...


class BytesCodec:
    """Store bytes unchanged. A bytearray or memoryview is copied and comes back as bytes.

    >>> codec = BytesCodec()
    >>> codec.decode(codec.encode(bytearray(b"24.0")))
    b'24.0'
    """

    __slots__ = ()

    def encode(self, value: object) -> bytes:
        """Return `value`, which must be bytes-like, as bytes."""
        if isinstance(value, bytes):
            return value
        if isinstance(value, bytearray | memoryview):
            return bytes(value)
        raise ValueNotEncodableError(value, "it is not bytes; choose another codec")

    def decode(self, data: bytes) -> object:
        """Return `data`."""
        return data


class _CheckedCodec:
    """Refuse values that decoding would not restore."""

    __slots__ = ("_decode", "_encode")

    def __init__(
        self, encode: Callable[[object], bytes], decode: Callable[[bytes], object]
    ) -> None:
        self._encode = encode
        self._decode = decode

    def encode(self, value: object) -> bytes:
        """Return `value` as bytes, after decoding and comparing them; O(size)."""
        try:
            data = self._encode(value)
            decoded = self._decode(data)
            is_restored = bool(decoded == value) or _is_restored(value, decoded)
        except _REFUSALS as error:
            raise ValueNotEncodableError(value, str(error)) from error
        if not is_restored:
            raise ValueNotEncodableError(
                value, "decoding would not restore it; convert it first, or choose another codec"
            )
        return data

    def decode(self, data: bytes) -> object:
        """Return the value that `data` was encoded from."""
        return self._decode(data)


class JsonCodec(_CheckedCodec):
    """Store values as JSON, which other programs can read.

    It accepts None, booleans, integers, finite floats, strings, lists of these, and dicts with
    string keys. Decoded values equal the original ones, except that tuples become lists.

    >>> codec = JsonCodec()
    >>> codec.encode({"bid": 24.0})
    b'{"bid":24.0}'
    >>> codec.encode(float("nan"))
    Traceback (most recent call last):
    ...
    upstream.errors.ValueNotEncodableError: a value of type float cannot be encoded: decoding \
would not restore it; convert it first, or choose another codec
    """

    __slots__ = ()

    def __init__(self) -> None:
        try:
            from msgspec import json
        except ImportError as error:
            raise _missing_msgspec("JsonCodec") from error
        super().__init__(json.Encoder().encode, json.Decoder().decode)


class MessagePackCodec(_CheckedCodec):
    """Store values as MessagePack, which is shorter than JSON and has more types.

    It accepts what `JsonCodec` accepts, and also NaN, infinities, bytes, datetimes with a time zone
    and dict keys of any of these types, but no integers of more than 64 bits. Decoded values equal
    the original ones, except that tuples become lists.

    >>> codec = MessagePackCodec()
    >>> codec.decode(codec.encode({"bid": 24.0, "raw": b"BID"}))
    {'bid': 24.0, 'raw': b'BID'}
    """

    __slots__ = ()

    def __init__(self) -> None:
        try:
            from msgspec import msgpack
        except ImportError as error:
            raise _missing_msgspec("MessagePackCodec") from error
        super().__init__(msgpack.Encoder().encode, msgpack.Decoder().decode)


def _missing_msgspec(codec: str) -> ImportError:
    return ImportError(missing_extra(codec, "msgspec", "codecs"), name="msgspec")


def _is_restored(value: object, decoded: object) -> bool:
    """Tell whether both are the same. NaN counts as equal to itself, and a tuple to its list."""
    if isinstance(decoded, list) and (isinstance(value, list) or type(value) is tuple):
        return len(value) == len(decoded) and all(map(_is_restored, value, decoded))
    if isinstance(decoded, dict) and isinstance(value, dict):
        return len(value) == len(decoded) and all(
            key in decoded and _is_restored(value[key], decoded[key]) for key in value
        )
    if isinstance(decoded, float) and isinstance(value, float) and math.isnan(value):
        return math.isnan(decoded)
    return bool(decoded == value)
