"""Converts rows from outside to the columns of a stream, completely or not at all.

Arrow's own casts are too generous: they read numbers from strings, and round. A conversion is made
only if every value is unchanged by it. Otherwise it is an error that names the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from reprlib import repr as shorten
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import StreamTypeError
from .arrow_data import empty_table
from .type_names import type_name

_UNFIT: Final = (pa.ArrowInvalid, pa.ArrowNotImplementedError)
"""Exceptions that Arrow raises for a value that cannot be converted."""


def conform(data: pa.Table, stream: str, schema: pa.Schema, required: Sequence[str]) -> pa.Table:
    """Return the rows with exactly this schema; `required` columns contain no NULL.

    A table without rows and columns, such as an empty list gives, fits any stream.
    """
    if data.schema.equals(schema) and not any(data.column(each).null_count for each in required):
        return data
    if not data.num_rows and not data.num_columns:
        return empty_table(schema)
    places = _places(data.schema.names, schema.names, stream)
    columns = []
    for field in schema:
        place = places.get(field.name)
        if place is None and field.name in required:
            reason = "is missing; each row needs its key and its time"
            raise StreamTypeError(stream, reason, column=field.name)
        if place is None:
            column = pa.chunked_array([pa.nulls(data.num_rows, field.type)])
        else:
            column = _converted(data.column(place), field, stream)
        if field.name in required and column.null_count:
            row = int(np.argmax(column.is_null().to_numpy()))
            reason = "is NULL; each row needs its key and its time"
            raise StreamTypeError(stream, reason, column=field.name, row=row)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def _places(given: Sequence[str], wanted: Sequence[str], stream: str) -> dict[str, int]:
    """Return the place of each wanted column.

    Raise StreamTypeError for an unknown or repeated one.
    """
    by_lower = {name.lower(): name for name in wanted}
    places: dict[str, int] = {}
    for place, name in enumerate(given):
        column = by_lower.get(name.lower())
        if column is None:
            reason = f"is not a column of the stream, which has {', '.join(wanted)}"
            raise StreamTypeError(stream, reason, column=name)
        if column in places:
            raise StreamTypeError(stream, "is named twice", column=column)
        places[column] = place
    return places


def _converted(column: pa.ChunkedArray, field: pa.Field, stream: str) -> pa.ChunkedArray:
    if column.type == field.type:
        return column
    is_time = pa.types.is_timestamp(field.type) or pa.types.is_date(field.type)
    if is_time and _is_text(column.type):
        return _read_times(column, field, stream)
    if not may_become(column.type, field.type):
        given, wanted = type_name(column.type), type_name(field.type)
        reason = f"{given} cannot be converted to {wanted}; cast it first"
        raise StreamTypeError(stream, reason, column=field.name)
    try:
        converted = _cast(column, field.type)
    except _UNFIT as error:
        row = first_that_fails(column, lambda part: _cast(part, field.type))
        raise _misfit(column, field, stream, row) from error
    is_checked = pa.types.is_integer(column.type) or pa.types.is_integer(field.type)
    if not is_checked and (_may_round(column.type) or _may_round(field.type)):
        row = _first_that_changed(column, converted)
        if row is not None:
            raise _misfit(column, field, stream, row)
    return converted


def _read_times(column: pa.ChunkedArray, field: pa.Field, stream: str) -> pa.ChunkedArray:
    """Return times written as in ISO 8601.

    For TIMESTAMP, those with a zone are converted to UTC.
    """
    texts, kind = column.cast(pa.string()), field.type

    def read(part: pa.ChunkedArray) -> pa.ChunkedArray:
        try:
            return part.cast(kind)
        except pa.ArrowInvalid:
            if not pa.types.is_timestamp(kind) or kind.tz is not None:
                raise
            return part.cast(pa.timestamp(kind.unit, "UTC")).cast(kind)

    try:
        return read(texts)
    except pa.ArrowInvalid as error:
        row = first_that_fails(texts, read)
        reason = "some of the texts have a time zone, and others do not"
        if row is not None:
            reason = f"{_shown(texts[row])} is not a {type_name(kind)} such as {_example(kind)}"
        raise StreamTypeError(stream, reason, column=field.name, row=row) from error


def _example(kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return "2026-01-02"
    return f"2026-01-02 09:30:00{'' if kind.tz is None else '+01:00'}"


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_integer(column.type) and pa.types.is_decimal(wanted):
        # Arrow checks the precision for the largest integer of the type, not for the present ones.
        column = column.cast(pa.decimal256(20 + max(wanted.scale, 0), wanted.scale))
    return column.cast(wanted)


def _misfit(
    column: pa.ChunkedArray, field: pa.Field, stream: str, row: int | None
) -> StreamTypeError:
    value = "a value" if row is None else _shown(column[row])
    reason = f"{value} of type {type_name(column.type)} does not fit into {type_name(field.type)}"
    return StreamTypeError(stream, reason, column=field.name, row=row)


def _shown(value: pa.Scalar) -> str:
    if pa.types.is_timestamp(value.type):  # Python may lack such a precision
        value = value.cast(pa.string())
    return shorten(value.as_py())


def may_become(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Tell whether values of one type can be converted to another without being parsed."""
    types = pa.types
    if types.is_dictionary(given):
        return may_become(given.value_type, wanted)
    if types.is_null(given) or given == wanted:
        return True
    if types.is_timestamp(given) and types.is_timestamp(wanted):
        # A local time has no zone, so the moment is unknown.
        return (given.tz is None) == (wanted.tz is None)
    if types.is_struct(given) and types.is_struct(wanted):
        return [each.name for each in given] == [each.name for each in wanted] and all(
            may_become(one.type, other.type) for one, other in zip(given, wanted, strict=True)
        )
    if _is_list(given) and _is_list(wanted):
        return may_become(given.value_type, wanted.value_type)
    return any(is_kind(given) and is_kind(wanted) for is_kind in _kinds())


def _is_list(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _kinds() -> Sequence[Callable[[pa.DataType], bool]]:
    """Return the families of types; types of one family can be converted to each other."""
    types = pa.types

    def is_number(kind: pa.DataType) -> bool:
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))

    def is_bytes(kind: pa.DataType) -> bool:
        return bool(
            types.is_binary(kind)
            or types.is_large_binary(kind)
            or types.is_binary_view(kind)
            or types.is_fixed_size_binary(kind)
        )

    return (is_number, _is_text, is_bytes, types.is_date, types.is_time)


def _may_round(kind: pa.DataType) -> bool:
    """Tell whether Arrow rounds silently in conversions from this type, or to it."""
    if pa.types.is_nested(kind):
        return any(_may_round(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _first_that_changed(column: pa.ChunkedArray, converted: pa.ChunkedArray) -> int | None:
    """Return the first row that differs after it is converted and converted back."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        again = converted.cast(column.type, safe=False)
    except _UNFIT:  # such as 1e300 for a narrow decimal
        return first_that_fails(converted, lambda part: part.cast(column.type, safe=False))
    if column.equals(again):
        return None
    if pa.types.is_nested(column.type):
        pairs = zip(column, again, strict=True)
        return next((row for row, (one, other) in enumerate(pairs) if not one.equals(other)), None)
    is_same = pc.equal(column, again)
    if pa.types.is_floating(column.type):
        is_same = pc.or_(is_same, pc.is_nan(column))
    is_changed = pc.invert(pc.fill_null(is_same, fill_value=True)).to_numpy()
    return int(np.argmax(is_changed)) if is_changed.any() else None


def first_that_fails(
    rows: pa.ChunkedArray | pa.Table,
    convert: Callable[[pa.ChunkedArray | pa.Table], object],
    errors: type[Exception] | tuple[type[Exception], ...] = _UNFIT,
) -> int | None:
    """Return the first row that cannot be converted, by bisection."""
    start, stop = 0, len(rows)
    while stop - start > 1:
        middle = (start + stop) // 2
        if _fails(rows.slice(start, middle - start), convert, errors):
            stop = middle
        else:
            start = middle
    return start if stop > start and _fails(rows.slice(start, 1), convert, errors) else None


def _fails(
    part: pa.ChunkedArray | pa.Table,
    convert: Callable[[pa.ChunkedArray | pa.Table], object],
    errors: type[Exception] | tuple[type[Exception], ...],
) -> bool:
    try:
        convert(part)
    except errors:
        return True
    return False
