"""Bodies of MessagePack, of the same shapes as bodies of JSON, with values that stay encoded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from . import reasons
from .batch import Batch, Now, filled
from .errors import MalformedBodyError, RefusedRowError, TooManyRowsError
from .keys import any_has_nul
from .plain_values import are_good, fault_of
from .reasons import Limits
from .stored import PackedValue
from .wire import (
    REFUSALS,
    Columns,
    RowReader,
    WireRow,
    WireUpdate,
    columns_of_objects,
    columns_of_rows,
    position_of,
    row_type,
    update_type,
)

if TYPE_CHECKING:
    UpdateDecoder = msgspec.msgpack.Decoder[WireUpdate]
    RowDecoder = msgspec.msgpack.Decoder[WireRow]
    UpdatesDecoder = msgspec.msgpack.Decoder[list[WireUpdate]]
    RowsDecoder = msgspec.msgpack.Decoder[list[WireRow]]

_Decoded = TypeVar("_Decoded")
_MAPS: Final = frozenset(bytes((byte,)) for byte in (*range(0x80, 0x90), 0xDE, 0xDF))
"""The first bytes of maps."""
_ARRAYS: Final = frozenset(bytes((byte,)) for byte in (*range(0x90, 0xA0), 0xDC, 0xDD))
"""The first bytes of arrays."""
_SIZE_BYTES: Final = {0xDC: 2, 0xDD: 4}
"""How many bytes the number of elements takes after the first bytes of long arrays."""
_any_array: Final = msgspec.msgpack.Decoder(list[msgspec.Raw])
_any_map: Final = msgspec.msgpack.Decoder(msgspec.Raw)
_NOT_MESSAGEPACK: Final = "the body is not MessagePack"
_EXPECTED: Final = f"{_NOT_MESSAGEPACK}: expected an update, or an array of updates"
_TOO_DEEP: Final = "the body is nested too deep to be read"


class MessagePackBodies:
    """Reads bodies of MessagePack."""

    def __init__(self, limits: Limits, now: Now) -> None:
        self._limits = limits
        self._now = now
        self._values = PackedValues(limits)
        update, row = update_type(limits), row_type(limits)
        decoder = msgspec.msgpack.Decoder
        self._object: UpdateDecoder = decoder(update)
        self._row: RowDecoder = decoder(row)
        self._objects: UpdatesDecoder = decoder(list[update])  # type: ignore[valid-type]
        self._rows: RowsDecoder = decoder(list[row])  # type: ignore[valid-type]
        self._one_by_one = RowReader(self._parse, self._values.read, limits, now)

    def read(self, body: bytes) -> Batch:
        """Return the updates of a body; MalformedBodyError if it is not an array or map."""
        opening = body[:1]
        if opening in _MAPS:
            _decode_structure(_any_map, body)
            return self._one_by_one.read([body], is_single=True)
        if opening not in _ARRAYS:
            raise MalformedBodyError(_EXPECTED, 0)
        rows, start = _array_header(body)
        if rows > self._limits.rows:
            raise TooManyRowsError(self._limits.rows)
        batch = self._read_at_once(body, body[start : start + 1])
        if batch is not None:
            return batch
        raws = _decode_structure(_any_array, body)
        return self._one_by_one.read(map(bytes, raws))

    def _read_at_once(self, body: bytes, opening: bytes) -> Batch | None:
        """Return the updates of an array of one kind; None if one of them may be bad."""
        try:
            if opening in _MAPS:
                return self._all_or_none(columns_of_objects(self._objects.decode(body)))
            if opening in _ARRAYS:
                return self._all_or_none(columns_of_rows(self._rows.decode(body)))
        except REFUSALS:
            pass
        return None

    def _all_or_none(self, columns: Columns) -> Batch | None:
        keys, times, raws = columns
        moments = filled(times, self._now)
        if moments is not None and not all(map(math.isfinite, moments)):
            return None
        if any_has_nul(keys):
            return None
        values = self._values.read_all(raws)
        if values is None:
            return None
        return Batch(keys=keys, values=values, times=moments, rows=len(keys))

    def _parse(self, packed: bytes) -> WireRow:
        opening = packed[:1]
        if opening in _MAPS:
            update = self._object.decode(packed)
            return update.key, update.time, update.value
        if opening in _ARRAYS:
            return self._row.decode(packed)
        raise RefusedRowError(reasons.NOT_AN_UPDATE)


def _array_header(body: bytes) -> tuple[int, int]:
    """Return the number of elements in an array's header, and where they begin."""
    opening = body[0]
    if opening in _SIZE_BYTES:
        end = 1 + _SIZE_BYTES[opening]
        return int.from_bytes(body[1:end], "big"), end
    return opening & 0x0F, 1


def _decode_structure(decoder: msgspec.msgpack.Decoder[_Decoded], body: bytes) -> _Decoded:
    """Decode a body except its elements; MalformedBodyError if that fails."""
    try:
        return decoder.decode(body)
    except RecursionError:
        raise MalformedBodyError(_TOO_DEEP) from None
    except msgspec.DecodeError as error:
        raise MalformedBodyError(_NOT_MESSAGEPACK, position_of(error, body)) from None


_ARRAY_32: Final = b"\xdd"
_decoder: Final = msgspec.msgpack.Decoder()


class PackedValues:
    """Reads the values of updates in MessagePack."""

    __slots__ = ("_limits",)

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def read(self, raw: msgspec.Raw) -> PackedValue:
        """Return a value; RefusedRowError if it is not valid."""
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
        """Return the values; None if one of them may have to be refused."""
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
