"""The schema of a stream, inferred from the values that it holds.

If all values are objects, each member becomes a column; otherwise there is one column `value`. A
member with several types becomes a string, which takes every value as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

import msgspec
import pyarrow as pa
from pyarrow import types

from .layout import DELETED, KEY, OF_UPDATES, TIME, VALUE
from .raw_updates import RawUpdate

MOST_LOOKED_AT: Final = 100_000
"""How many of the newest updates the schema is inferred from."""
_GREATEST_INTEGER: Final = 2**63 - 1


def inferred_schema(updates: Sequence[RawUpdate], *, may_be_deleted: bool) -> pa.Schema:
    """Return a schema for these updates; without updates, keys and values are strings."""
    looked_at = updates[-MOST_LOOKED_AT:]
    are_integers = bool(looked_at) and all(
        type(update.key) is int and abs(update.key) <= _GREATEST_INTEGER for update in looked_at
    )
    fields = [
        pa.field(KEY, pa.int64() if are_integers else pa.string()),
        pa.field(TIME, pa.float64()),
        *_value_fields([msgspec.json.decode(update.value) for update in looked_at]),
    ]
    if may_be_deleted:
        fields.append(pa.field(DELETED, pa.bool_()))
    return pa.schema(fields)


def _value_fields(values: Sequence[object]) -> list[pa.Field]:

    kind = reduce(_both, map(_type_of, values), pa.null())
    if types.is_struct(kind) and set(names := [field.name for field in kind]) != {VALUE}:
        members = [kind.field(name) for name in names if name not in OF_UPDATES]
        if members:
            return [pa.field(member.name, _known(member.type)) for member in members]
    return [pa.field(VALUE, _known(kind))]


def _type_of(value: object) -> pa.DataType:

    match value:
        case None:
            return pa.null()
        case bool():
            return pa.bool_()
        case int():
            return pa.int64() if abs(value) <= _GREATEST_INTEGER else pa.float64()
        case float():
            return pa.float64()
        case list():
            return pa.list_(reduce(_both, map(_type_of, value), pa.null()))
        case dict():
            return pa.struct([(name, _type_of(member)) for name, member in value.items()])
        case _:
            return pa.string()


def _both(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return a type that takes the values of both types."""
    if one.equals(other) or types.is_null(other):
        return one
    if types.is_null(one):
        return other
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if types.is_list(one) and types.is_list(other):
        return pa.list_(_both(one.value_type, other.value_type))
    if types.is_struct(one) and types.is_struct(other):
        members = {field.name: field.type for field in one}
        for field in other:
            known = members.get(field.name)
            members[field.name] = field.type if known is None else _both(known, field.type)
        return pa.struct(list(members.items()))
    return pa.string()


def _known(kind: pa.DataType) -> pa.DataType:
    """Return the type with strings in place of types that were always null or empty."""
    if types.is_null(kind) or (types.is_struct(kind) and not kind.num_fields):
        return pa.string()
    if types.is_list(kind):
        return pa.list_(_known(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([(field.name, _known(field.type)) for field in kind])
    return kind
