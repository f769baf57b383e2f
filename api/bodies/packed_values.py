"""Values in MessagePack that stay encoded, if JSON can say them too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from . import reasons
from .errors import RefusedRowError
from .limits import Limits
from .plain_values import are_good, fault_of
from .wire import REFUSALS

_ARRAY_32: Final = b"\xdd"
_decoder: Final = msgspec.msgpack.Decoder()


class PackedValue(bytes):
    r"""A value as MessagePack; plain bytes are one as JSON.

    >>> PackedValue(b"\xc3") == msgspec.msgpack.encode(True)
    True
    """

    __slots__ = ()


class PackedValues:
    """Reads the values of updates in MessagePack."""

    __slots__ = ("_limits",)

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def read(self, raw: msgspec.Raw) -> PackedValue:
        """Return a value; RefusedRowError if it cannot be accepted."""
        packed = PackedValue(raw)
        if len(packed) > self._limits.value_bytes:
            raise RefusedRowError(reasons.too_long(self._limits))
        try:
            value = _decoder.decode(packed)
        except REFUSALS as error:
            reason: str | None = (
                reasons.NOT_JSON  # such as a map in a key
                if isinstance(error, msgspec.DecodeError)
                else reasons.of_error(error, self._limits)
            )
        else:
            reason = fault_of(value, self._limits)
        if reason is not None:
            raise RefusedRowError(reason)
        return packed

    def read_all(self, raws: Sequence[msgspec.Raw]) -> list[PackedValue] | None:
        """Return the values; None if some value may have to be refused."""
        array = _ARRAY_32 + len(raws).to_bytes(4, "big") + b"".join(raws)
        try:
            values = _decoder.decode(array)
        except REFUSALS:
            return None
        if not are_good(values) and any(fault_of(value, self._limits) for value in values):
            return None
        packed = list(map(PackedValue, raws))
        longest = self._limits.value_bytes
        if len(array) > longest and max(map(len, packed)) > longest:
            return None
        return packed
