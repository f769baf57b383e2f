"""Checks that a data frame can be written: its columns must fit updates in Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ColumnError
from .layout import DELETED, KEY, OF_UPDATES, TIME

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def check_writable(schema: StructType) -> None:
    """Raise ColumnError unless a data frame has a key, a value, and types that JSON has."""
    from pyspark.sql import types

    kinds = {field.name: field.dataType for field in schema.fields}
    if KEY not in kinds:
        raise ColumnError(KEY, f"is missing; the columns are {', '.join(kinds)}")
    if not isinstance(kinds[KEY], types.StringType | types.IntegralType):
        raise ColumnError(KEY, f"is {_said(kinds[KEY])}: expected string or a whole number")
    timely = types.NumericType | types.TimestampType | types.TimestampNTZType
    time = kinds.get(TIME)
    if time is not None and (not isinstance(time, timely) or isinstance(time, types.DecimalType)):
        raise ColumnError(TIME, f"is {_said(time)}: expected seconds as a double, or timestamp")
    if DELETED in kinds:
        raise ColumnError(
            DELETED,
            "cannot be written, because rows cannot be deletions: filter these rows out, "
            "drop the column, and delete keys with upstream.client",
        )
    values = {name: kind for name, kind in kinds.items() if name not in OF_UPDATES}
    if not values:
        raise ColumnError("value", "is missing, and there are no columns for its members")
    for name, kind in values.items():
        if not _is_value(kind):
            raise ColumnError(
                name,
                f"is {_said(kind)}, which JSON lacks; cast it, such as to string or double",
            )


def _is_value(kind: DataType) -> bool:
    from pyspark.sql import types

    if isinstance(kind, types.ArrayType):
        return _is_value(kind.elementType)
    if isinstance(kind, types.StructType):
        return bool(kind.fields) and all(_is_value(field.dataType) for field in kind.fields)
    plain = types.StringType | types.BooleanType | types.NumericType
    return isinstance(kind, plain) and not isinstance(kind, types.DecimalType)


def _said(kind: DataType) -> str:
    return kind.simpleString()
