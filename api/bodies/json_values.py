"""JSON values that stay text: checked, copied out of their body, and stored as they came.

A stored text keeps its spelling (`1.10` stays `1.10`), but line breaks between its tokens become
spaces, so that it fits into one line of NDJSON or of an event stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from . import reasons
from .errors import RefusedRowError
from .json_text import depth_of
from .plain_values import has_nul
from .reasons import Limits
from .wire import REFUSALS

_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")
_NUMBER_SHAPES: Final = bytes.maketrans(
    bytes(code for code in range(256) if code not in b"0123456789eE") + b"123456789E",
    b" " * 244 + b"000000000e",
)
_BEYOND_64_BITS: Final = b"0" * 19
_EXPONENT: Final = b"0e"
_decoder: Final = msgspec.json.Decoder()
_pack: Final = msgspec.msgpack.Encoder().encode


class JsonValues:
    """Reads the values of updates in JSON.

    Decoders of whole bodies check the syntax of unread values only, not UTF-8 and not the range of
    numbers.
    """

    __slots__ = ("_depth", "_limits", "_value_bytes")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._depth = limits.depth
        self._value_bytes = limits.value_bytes

    def read(self, raw: msgspec.Raw) -> bytes:
        """Return a value's text; RefusedRowError if it is not valid."""
        text = bytes(raw)
        if len(text) > self._value_bytes:
            raise RefusedRowError(reasons.too_long(self._limits))
        if not self._is_shallow(text, (text,)):
            raise RefusedRowError(reasons.too_deep(self._limits))
        value = self._decode(text)
        if b"\\u0000" in text and has_nul(value):
            raise RefusedRowError(f"value: {reasons.NUL}")
        if b"\n" in text or b"\r" in text:
            return text.translate(_ONE_LINE)
        return text

    def read_all(self, raws: Sequence[msgspec.Raw]) -> list[bytes] | None:
        """Return the values' texts; None if one of them may have to be refused.

        One call for all values is faster: two passes over the joined text copy them.
        """
        joined = b"\n".join(raws)
        texts = joined.split(b"\n")
        if len(texts) != len(raws) or b"\r" in joined:  # some values contain line breaks
            texts = [bytes(raw).translate(_ONE_LINE) for raw in raws]
        if len(joined) > self._value_bytes and max(map(len, texts)) > self._value_bytes:
            return None
        if not self._is_shallow(joined, texts):
            return None
        if not is_plain(joined):
            if b"\\u0000" in joined:
                return None
            try:
                # A value that can be packed can be transcoded into every other format.
                _pack(_decoder.decode_lines(joined))
            except (*REFUSALS, OverflowError):
                return None
        return texts

    def _is_shallow(self, joined: bytes, texts: Sequence[bytes]) -> bool:
        """Tell whether no text in `joined`, which joins `texts`, is nested too deep."""
        if b"[" not in joined and b"{" not in joined:
            return True
        if joined.count(b"[") + joined.count(b"{") <= self._depth:
            return True
        # Each level takes a bracket at either end.
        return max(map(len, texts)) <= 2 * self._depth or depth_of(joined) <= self._depth

    def _decode(self, text: bytes) -> object:
        try:
            value: object = _decoder.decode(text)
            _pack(value)
        except (msgspec.ValidationError, OverflowError):
            raise RefusedRowError(reasons.NUMBER_RANGE) from None
        except REFUSALS as error:
            raise RefusedRowError(reasons.of_error(error, self._limits)) from None
        return value


def is_plain(text: bytes) -> bool:
    """Tell whether values of correct syntax are surely good, without decoding them.

    They are if the text is ASCII without escapes, and without anything like an exponent or a number
    beyond 64 bits. This takes a third of the time of decoding numbers, and a tenth with objects.
    """
    if not text.isascii() or b"\\" in text:
        return False
    shapes = text.translate(_NUMBER_SHAPES)
    # Searching for one letter is many times as fast, and mostly finds none.
    if b"e" in shapes and _EXPONENT in shapes:
        return False
    return _BEYOND_64_BITS not in shapes
