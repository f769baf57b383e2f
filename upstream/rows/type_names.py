"""SQL's names of types, for messages, since a user of SQL need not know Arrow's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "large_string": "VARCHAR",
    "string_view": "VARCHAR",
    "binary": "BLOB",
    "large_binary": "BLOB",
    "binary_view": "BLOB",
    "month_day_nano_interval": "INTERVAL",
    "null": "NULL",
}
_TIMESTAMPS = {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"}


def type_name(kind: pa.DataType) -> str:
    """Return SQL's name for a type of Arrow, or Arrow's name if SQL has none."""
    import pyarrow as pa

    types = pa.types
    if types.is_timestamp(kind):
        return _TIMESTAMPS[kind.unit] if kind.tz is None else "TIMESTAMPTZ"
    if types.is_date(kind):
        return "DATE"
    if types.is_time(kind):
        return "TIME"
    if types.is_duration(kind):
        return "INTERVAL"
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if types.is_dictionary(kind):
        return type_name(kind.value_type)
    if types.is_nested(kind):
        return _nested(kind)
    return _PLAIN.get(str(kind), str(kind))


def _nested(kind: pa.DataType) -> str:
    import pyarrow as pa

    types = pa.types
    if types.is_struct(kind):
        return f"STRUCT({', '.join(f'{each.name} {type_name(each.type)}' for each in kind)})"
    if types.is_map(kind):
        return f"MAP({type_name(kind.key_type)}, {type_name(kind.item_type)})"
    if types.is_fixed_size_list(kind):
        return f"{type_name(kind.value_type)}[{kind.list_size}]"
    if types.is_list(kind) or types.is_large_list(kind):
        return f"{type_name(kind.value_type)}[]"
    return str(kind)
