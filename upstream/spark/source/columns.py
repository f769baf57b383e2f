"""Updates as the columns of a schema: JSON is parsed by Arrow, whole columns at once.

If Arrow's parser fails, the values of the batch are converted one by one. It fails for a number in
a column of strings, for example. The conversion accepts any value for a string, and otherwise names
the key and the column of the value that does not fit.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import json, types

from .errors import ValueMisfitError
from .fitting import MisfitError, fit, fit_text
from .layout import DELETED, KEY, TIME, Layout
from .raw_updates import RawUpdate

ROWS_AT_ONCE: Final = 10_000
_MICROSECONDS: Final = 1_000_000
_NULL: Final = b"null"
_read_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def record_batches(updates: Sequence[RawUpdate], layout: Layout) -> Iterator[pa.RecordBatch]:
    """Yield updates in record batches of a schema; ValueMisfitError if a value does not fit."""
    for start in range(0, len(updates), ROWS_AT_ONCE):
        yield _record_batch(updates[start : start + ROWS_AT_ONCE], layout)


def _record_batch(updates: Sequence[RawUpdate], layout: Layout) -> pa.RecordBatch:

    columns = _value_columns(updates, layout)
    for field in layout.schema:
        if field.name == KEY:
            columns[KEY] = _keys(updates, field.type)
        elif field.name == TIME:
            columns[TIME] = _times(updates, field.type)
        elif field.name == DELETED:
            columns[DELETED] = pa.array([update.is_deleted for update in updates], pa.bool_())
        _check_nulls(updates, field, columns[field.name])
    arrays = [columns[name] for name in layout.schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=layout.schema)


def _keys(updates: Sequence[RawUpdate], kind: pa.DataType) -> pa.Array:

    if types.is_string(kind):
        return pa.array([key_text(update.key) for update in updates], kind)
    keys = []
    for update in updates:
        try:
            keys.append(fit(update.key, kind))
        except MisfitError as misfit:
            raise ValueMisfitError(update.key, KEY, update.key, misfit.expected) from None
    return pa.array(keys, kind)


def key_text(key: object) -> str:
    """Return a key as a string: a string as it is, any other key as JSON.

    >>> key_text("IBM"), key_text(7), key_text(("NYSE", 7))
    ('IBM', '7', '["NYSE",7]')
    """
    return key if isinstance(key, str) else msgspec.json.encode(key).decode()


def _times(updates: Sequence[RawUpdate], kind: pa.DataType) -> pa.Array:

    seconds = np.array([update.time for update in updates], dtype=np.float64)
    if not types.is_timestamp(kind):
        return pa.array(seconds, kind)
    microseconds = np.rint(seconds * _MICROSECONDS)
    beyond = np.flatnonzero(~(np.abs(microseconds) < 2.0**63))
    if len(beyond):
        update = updates[int(beyond[0])]
        raise ValueMisfitError(update.key, TIME, update.time, "timestamp")
    return pa.array(microseconds.astype(np.int64)).cast(pa.timestamp("us")).cast(kind)


def _value_columns(updates: Sequence[RawUpdate], layout: Layout) -> dict[str, pa.Array]:

    if not layout.values:
        return {}
    fields = [layout.schema.field(name).with_nullable(True) for name in layout.values]
    kind = fields[0].type if layout.is_one_value else pa.struct(fields)
    if pa.types.is_string(kind):
        return _fitted_columns(updates, layout)  # which keeps the text as it is
    try:
        column = _parsed(updates, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _fitted_columns(updates, layout)
    if layout.is_one_value:
        return {layout.values[0]: column}
    return dict(zip(layout.values, column.flatten(), strict=True))


def _parsed(updates: Sequence[RawUpdate], kind: pa.DataType) -> pa.Array:
    """Return all values as one column, parsed by Arrow; ArrowInvalid if it cannot."""
    lines = b"".join(b'{"v":%b}\n' % update.value for update in updates)
    table = json.read_json(
        io.BytesIO(lines),
        read_options=json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        parse_options=json.ParseOptions(
            explicit_schema=pa.schema([("v", kind)]), unexpected_field_behavior="ignore"
        ),
    )
    return table.column("v").combine_chunks().cast(kind)


def _fitted_columns(updates: Sequence[RawUpdate], layout: Layout) -> dict[str, pa.Array]:

    fields = [layout.schema.field(name) for name in layout.values]
    columns: dict[str, list[object]] = {name: [] for name in layout.values}
    for update in updates:
        members = {layout.values[0]: update.value} if layout.is_one_value else _members(update)
        for field in fields:
            try:
                fitted = fit_text(bytes(members.get(field.name, _NULL)), field.type)
            except MisfitError as misfit:
                raise ValueMisfitError(
                    update.key, field.name, misfit.value, misfit.expected
                ) from None
            columns[field.name].append(fitted)
    return {field.name: pa.array(columns[field.name], field.type) for field in fields}


def _members(update: RawUpdate) -> Mapping[str, bytes]:
    if bytes(update.value) == _NULL:
        return {}
    try:
        return _read_members(update.value)
    except msgspec.ValidationError:
        value = msgspec.json.decode(update.value)
        raise ValueMisfitError(update.key, "value", value, "columns for its members") from None


def _check_nulls(updates: Sequence[RawUpdate], field: pa.Field, column: pa.Array) -> None:
    if not field.nullable and column.null_count:
        row = column.is_null().index(True).as_py()
        raise ValueMisfitError(updates[row].key, field.name, None, f"{field.type} NOT NULL")
