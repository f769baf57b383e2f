"""Answers in Arrow: a stream of one record batch.

Its columns are `key`, `time` (float64 seconds), `value` and, if any update has them, `deleted`
(bool) and `lease` (utf8). Keys are utf8 if all are strings and int64 if all are integers. Values
are float64, int64, bool or utf8 if all are numbers, integers, booleans or strings, apart from null.
Otherwise the column is utf8 with the JSON text of each, and its field's metadata has
`content_type`: `application/json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import pyarrow as pa

from upstream import TOMBSTONE, Update

from ..keys import GREATEST_INTEGER
from ..stored import json_value, python_value

_AS_JSON: Final = {"content_type": "application/json"}
_EXACT_AS_FLOAT: Final = 2**53
_to_json: Final = msgspec.json.Encoder().encode


def write_arrow(updates: Sequence[Update], leases: Sequence[str] | None) -> bytes:
    """Return updates as an Arrow IPC stream."""
    stored = [update.value for update in updates]
    times = [update.time for update in updates]
    columns = [
        ("key", *_keys([update.key for update in updates])),
        ("time", pa.array(times, pa.float64()), None),
        ("value", *_values(stored)),
    ]
    deleted = [value is TOMBSTONE for value in stored]
    if any(deleted):
        columns.append(("deleted", pa.array(deleted), None))
    if leases is not None:
        columns.append(("lease", pa.array(leases, pa.string()), None))
    fields = [pa.field(name, array.type, metadata=said) for name, array, said in columns]
    batch = pa.record_batch([array for _, array, _ in columns], schema=pa.schema(fields))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


_Described = tuple[pa.Array, dict[str, str] | None]


def _keys(keys: list[object]) -> _Described:
    kinds = set(map(type, keys))
    if kinds <= {str}:
        return pa.array(keys, pa.string()), None
    if kinds == {int}:
        return pa.array(keys, pa.int64()), None
    return pa.array([_to_json(key).decode() for key in keys], pa.string()), _AS_JSON


def _values(stored: list[object]) -> _Described:
    values = [python_value(value) for value in stored]
    kind = _type_of(values)
    if kind is not None:
        return pa.array(values, kind), None
    texts = [None if value is TOMBSTONE else json_value(value).decode() for value in stored]
    return pa.array(texts, pa.string()), _AS_JSON


def _type_of(values: list[object]) -> pa.DataType | None:
    """Return the one type that holds all values without loss, or None if there is no such type."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {float}:
        return pa.float64()
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {str}:
        return pa.string()
    integers = [value for value in values if type(value) is int]
    greatest = max(map(abs, integers), default=0)
    if kinds == {int} and greatest <= GREATEST_INTEGER:
        return pa.int64()
    if kinds == {int, float} and greatest <= _EXACT_AS_FLOAT:
        return pa.float64()
    return None
