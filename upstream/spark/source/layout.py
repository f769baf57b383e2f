"""The roles of the columns of a schema: key, time, deletion, and parts of the value.

These are Arrow schemas, which Spark derives from its own, so this module does not need Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyarrow import types

from .errors import ColumnError

KEY: Final = "key"
TIME: Final = "time"
DELETED: Final = "deleted"
VALUE: Final = "value"
OF_UPDATES: Final = frozenset({KEY, TIME, DELETED})
"""Columns that belong to the update, and not to its value."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A schema, and which of its columns hold parts of the value."""

    schema: pa.Schema
    values: tuple[str, ...]
    """The columns by name, which is also the name of the member of the value."""

    @property
    def is_one_value(self) -> bool:
        """Whether one column `value` holds the whole value."""
        return self.values == (VALUE,)


def readable_layout(schema: pa.Schema) -> Layout:
    """Return the layout of a schema; ColumnError if updates cannot be read into it."""
    for field in schema:
        check, expected = _CHECKS.get(field.name, (_is_value, _VALUES))
        if not check(field.type):
            raise ColumnError(field.name, f"cannot be {field.type}: expected {expected}")
    return Layout(schema, tuple(name for name in schema.names if name not in OF_UPDATES))


def _is_key(kind: pa.DataType) -> bool:

    return bool(types.is_string(kind) or types.is_integer(kind))


def _is_time(kind: pa.DataType) -> bool:

    return bool(types.is_float64(kind) or types.is_timestamp(kind))


def _is_boolean(kind: pa.DataType) -> bool:

    return bool(types.is_boolean(kind))


def _is_value(kind: pa.DataType) -> bool:

    if types.is_list(kind):
        return _is_value(kind.value_type)
    if types.is_struct(kind):
        return all(_is_value(kind.field(place).type) for place in range(kind.num_fields))
    if types.is_map(kind):
        return bool(types.is_string(kind.key_type)) and _is_value(kind.item_type)
    simple = (types.is_string, types.is_boolean, types.is_integer, types.is_floating)
    others = (types.is_decimal, types.is_date32, types.is_timestamp)
    return any(test(kind) for test in simple + others)


_VALUES: Final = (
    "string, boolean, number, date or timestamp, or an array, struct or map (with strings as keys) "
    "of these"
)
_CHECKS: Final = {
    KEY: (_is_key, "string or a whole number"),
    TIME: (_is_time, "double or timestamp"),
    DELETED: (_is_boolean, "boolean"),
}
