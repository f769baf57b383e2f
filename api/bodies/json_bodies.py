"""Bodies of JSON and NDJSON: one update, an array of updates, or one update per line.

The common body is an array of one kind without a fault. It is decoded and checked as a whole. If
anything is wrong with it, it is read again, row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from . import reasons
from .batch import Batch, Now, filled
from .errors import MalformedBodyError, RefusedRowError, TooManyRowsError
from .json_text import Elements, without_surrogates
from .json_values import JsonValues
from .reasons import Limits
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
    UpdateDecoder = msgspec.json.Decoder[WireUpdate]
    RowDecoder = msgspec.json.Decoder[WireRow]
    UpdatesDecoder = msgspec.json.Decoder[list[WireUpdate]]
    RowsDecoder = msgspec.json.Decoder[list[WireRow]]

_Decoded = TypeVar("_Decoded")
_OPENING: Final = re.compile(rb"[ \t\r\n]*(?:(\{)|\[(?:[ \t\r\n]*(?:(\{)|(\[)))?)")
"""How a body begins: as an update (1), an array of objects (2), of rows (3), or another array."""
_UPDATE: Final = 1
_OBJECTS: Final = 2
_ROWS: Final = 3
_EXPECTED: Final = "the body is not JSON: expected an update, or an array of updates"
_SPACE: Final = b" \t\r\n"
_any_text: Final = msgspec.json.Decoder(msgspec.Raw)
_any_array: Final = msgspec.json.Decoder(list[msgspec.Raw])


class JsonBodies:
    """Reads bodies of JSON (`read`) and of NDJSON (`read_lines`)."""

    def __init__(self, limits: Limits, now: Now) -> None:
        self._limits = limits
        self._now = now
        self._values = JsonValues(limits)
        update, row = update_type(limits), row_type(limits)
        decoder = msgspec.json.Decoder
        self._object: UpdateDecoder = decoder(update)
        self._row: RowDecoder = decoder(row)
        self._objects: UpdatesDecoder = decoder(list[update])  # type: ignore[valid-type]
        self._rows: RowsDecoder = decoder(list[row])  # type: ignore[valid-type]
        self._one_by_one = RowReader(self._parse, self._values.read, limits, now)

    def read(self, body: bytes) -> Batch:
        """Return the updates of a body; MalformedBodyError if it is not a JSON array or object."""
        opening = _OPENING.match(body)
        if opening is None:
            raise MalformedBodyError(_EXPECTED, 0)
        kind = opening.lastindex
        if kind == _UPDATE:
            return self._read_one(body)
        batch = None
        try:
            if kind == _OBJECTS:
                batch = self._all_or_none(columns_of_objects(self._objects.decode(body)), body)
            elif kind == _ROWS:
                batch = self._all_or_none(columns_of_rows(self._rows.decode(body)), body)
        except REFUSALS:
            pass
        if batch is None:
            batch = self._one_by_one.read(self._elements(body))
        return batch

    def read_lines(self, body: bytes) -> Batch:
        """Return the updates of lines. A bad line is a rejected row; blank lines are skipped."""
        lines = body.count(b"\n") + (not body.endswith(b"\n"))
        if lines > self._limits.rows:
            raise TooManyRowsError(self._limits.rows)
        batch = self._read_lines_at_once(body, lines)
        if batch is not None:
            return batch
        texts = (line.strip(_SPACE) for line in body.split(b"\n"))
        return self._one_by_one.read(text for text in texts if text)

    def _read_one(self, body: bytes) -> Batch:
        try:
            update = self._object.decode(body)
            if b"\\u0000" in body:
                raise RefusedRowError(reasons.NUL)
            value = self._values.read(update.value)
        except (*REFUSALS, RefusedRowError):
            _decode_structure(_any_text, body)
            return self._one_by_one.read([body], is_single=True)
        times = None if update.time is None else [update.time]
        return Batch(keys=[update.key], values=[value], times=times, rows=1, is_single=True)

    def _read_lines_at_once(self, body: bytes, lines: int) -> Batch | None:
        """Return the updates of lines of one kind; None if one of them may be bad."""
        try:
            if body.startswith(b"{"):
                columns = columns_of_objects(self._object.decode_lines(body))
            elif body.startswith(b"["):
                columns = columns_of_rows(self._row.decode_lines(body))
            else:
                return None
        except REFUSALS:
            return None
        # The decoder ignores where lines end.
        return self._all_or_none(columns, body) if len(columns[0]) == lines else None

    def _all_or_none(self, columns: Columns, body: bytes) -> Batch | None:
        """Return updates that were decoded from `body`; None if one of them may be bad."""
        keys, times, raws = columns
        if len(keys) > self._limits.rows:
            raise TooManyRowsError(self._limits.rows)
        if b"\\" in body and b"\\u0000" in body:
            return None
        values = self._values.read_all(raws)
        if values is None:
            return None
        return Batch(keys=keys, values=values, times=filled(times, self._now), rows=len(keys))

    def _parse(self, text: bytes) -> WireRow:
        opening = text.lstrip(_SPACE)[:1]
        if opening == b"{":
            update = self._object.decode(text)
            return update.key, update.time, update.value
        if opening == b"[":
            return self._row.decode(text)
        raise RefusedRowError(reasons.NOT_AN_UPDATE)

    def _elements(self, body: bytes) -> Iterable[bytes]:
        """Return the texts of an array's elements, which may be anything."""
        # Counted first, since there may be more rows than fit into memory.
        if body.count(b",") >= self._limits.rows and len(_cut(body)) > self._limits.rows:
            raise TooManyRowsError(self._limits.rows)
        raws = _decode_structure(_any_array, body)
        return _cut(body).texts() if raws is None else map(bytes, raws)


def _cut(body: bytes) -> Elements:
    try:
        return Elements(body)
    except ValueError:
        raise MalformedBodyError(
            "the body is not JSON: brackets or quotation marks do not match"
        ) from None


def _decode_structure(decoder: msgspec.json.Decoder[_Decoded], body: bytes) -> _Decoded | None:
    """Decode a body that has a fault; MalformedBodyError if it is a syntax error.

    Returns None if the syntax is correct, and the body cannot be decoded for another reason: it is
    nested too deep, or half of a surrogate pair is missing.
    """
    try:
        return decoder.decode(body)
    except RecursionError:
        return None
    except msgspec.DecodeError as error:
        position = position_of(error, body)
    try:
        decoder.decode(without_surrogates(body))
    except RecursionError:
        return None
    except msgspec.DecodeError:
        raise MalformedBodyError("the body is not JSON", position) from None
    return None
