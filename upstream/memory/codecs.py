"""Codecs: how values become the bytes that the page pool stores, and values again.

A codec gives back what it was given, or refuses it. An encoder that quietly turns NaN into null, a
date into a string or the key 1 into "1" would have the consumer see a value that the feed never
sent, so what msgspec encodes is decoded and compared before it is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from ..errors import ValueNotEncodableError
from ..extras import missing_extra

_REFUSALS = (TypeError, ValueError, OverflowError, RecursionError)
"""What msgspec raises for values that it cannot encode."""


class Codec(Protocol):
    """Turn values into bytes and back."""

    def encode(self, value: object) -> bytes:
        """Return `value` as bytes, or raise ValueNotEncodableError."""
        ...

    def decode(self, data: bytes) -> object:
        """Return the value that `data` was encoded from."""
        ...


class BytesCodec:
    """Store bytes as they are; a bytearray or memoryview is copied and comes back as bytes.

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
    """Refuse what does not come back."""

    __slots__ = ("_decode", "_encode")

    def __init__(
        self, encode: Callable[[object], bytes], decode: Callable[[bytes], object]
    ) -> None:
        self._encode = encode
        self._decode = decode

    def encode(self, value: object) -> bytes:
        """Return `value` as bytes, after decoding them and comparing; O(size)."""
        try:
            data = self._encode(value)
            decoded = self._decode(data)
            is_restored = bool(decoded == value) or _is_restored(value, decoded)
        except _REFUSALS as error:
            raise ValueNotEncodableError(value, str(error)) from error
        if not is_restored:
            raise ValueNotEncodableError(
                value, "it would not come back as it is; convert it first, or choose another codec"
            )
        return data

    def decode(self, data: bytes) -> object:
        """Return the value that `data` was encoded from."""
        return self._decode(data)


class JsonCodec(_CheckedCodec):
    """Store values as JSON, which other programs can read.

    It takes None, booleans, integers, finite floats, strings, and lists and dicts of these whose
    keys are strings. They come back equal to what they were, but for tuples, which come back as
    lists.

    >>> codec = JsonCodec()
    >>> codec.encode({"bid": 24.0})
    b'{"bid":24.0}'
    >>> codec.encode(float("nan"))
    Traceback (most recent call last):
    ...
    upstream.errors.ValueNotEncodableError: a value of type float cannot be encoded: it would not \
come back as it is; convert it first, or choose another codec
    """

    __slots__ = ()

    def __init__(self) -> None:
        try:
            from msgspec import json
        except ImportError as error:
            raise _missing_msgspec("JsonCodec") from error
        super().__init__(json.Encoder().encode, json.Decoder().decode)


class MessagePackCodec(_CheckedCodec):
    """Store values as MessagePack: shorter than JSON, and with more types.

    It takes what JSON takes, and NaN, infinities, bytes, datetimes with a time zone and dict keys
    of any of these, but no integers of more than 64 bits. They come back equal to what they were,
    but for tuples, which come back as lists.

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
    """Tell whether they are the same, a NaN being itself and a tuple being a list."""
    if isinstance(decoded, list) and (isinstance(value, list) or type(value) is tuple):
        return len(value) == len(decoded) and all(map(_is_restored, value, decoded))
    if isinstance(decoded, dict) and isinstance(value, dict):
        return len(value) == len(decoded) and all(
            key in decoded and _is_restored(value[key], decoded[key]) for key in value
        )
    if isinstance(decoded, float) and isinstance(value, float) and math.isnan(value):
        return math.isnan(decoded)
    return bool(decoded == value)
