"""Which columns of a table are key, time and value, and whether their types are supported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyarrow import types

from ..errors import UnsupportedColumnError
from ..reasons import Limits

MOST_COLUMNS: Final = 256

_KEY_TYPES: Final = (
    "keys must be strings or integers, or dictionaries or lists of these; cast the column"
)
_TIME_TYPES: Final = "times must be floats, integers or timestamps; cast the column"
_VALUE_TYPES: Final = (
    "JSON has no values of this type; cast the column to booleans, integers, 32 or 64 bit floats "
    "or strings, or to lists or structs of them with distinct field names"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of the columns."""

    key: int
    time: int | None
    values: tuple[int, ...]
    names: tuple[str, ...]
    """The names of the value columns."""

    @property
    def is_one_value(self) -> bool:
        """Whether the values are in one column `value`, rather than in one column per member."""
        return self.names == ("value",)


def layout_of(schema: pa.Schema, limits: Limits) -> Layout:
    """Return the layout of a table; raises UnsupportedColumnError if it has no updates."""
    names = _names(schema)
    if "key" not in names:
        raise UnsupportedColumnError(None, "there must be a column `key`")
    key = names.index("key")
    time = names.index("time") if "time" in names else None
    values = tuple(place for place in range(len(names)) if place not in (key, time))
    if not values:
        raise UnsupportedColumnError(None, "there must be a column `value`, or others for fields")
    if not is_key_type(schema.field(key).type):
        raise UnsupportedColumnError(key, _KEY_TYPES)
    if time is not None and not is_time_type(schema.field(time).type):
        raise UnsupportedColumnError(time, _TIME_TYPES)
    layout = Layout(key, time, values, tuple(names[place] for place in values))
    depth = limits.depth if layout.is_one_value else limits.depth - 1
    for place in values:
        if not is_value_type(schema.field(place).type, depth):
            raise UnsupportedColumnError(place, _VALUE_TYPES)
    return layout


def _names(schema: pa.Schema) -> list[str]:
    if len(schema) > MOST_COLUMNS:
        raise UnsupportedColumnError(None, f"there are more than {MOST_COLUMNS} columns")
    names = [field.name for field in schema]
    if len(set(names)) < len(names) or any("\0" in name for name in names):
        raise UnsupportedColumnError(None, "columns must have distinct names without NUL")
    return names


def is_key_type(kind: pa.DataType) -> bool:
    """Tell whether keys can be of this type."""
    if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind):
        kind = kind.value_type
    return is_text(kind) or types.is_integer(kind)


def is_time_type(kind: pa.DataType) -> bool:
    """Tell whether times can be of this type."""
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_timestamp(kind))


def is_value_type(kind: pa.DataType, depth: int) -> bool:
    """Tell whether values, or members of them, can be of this type."""
    if types.is_dictionary(kind):
        kind = kind.value_type
        return is_text(kind) or types.is_integer(kind)
    return bool(types.is_null(kind)) or _is_member_type(kind, depth)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether this is a type of strings that each have bytes of their own."""
    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_list(kind: pa.DataType) -> bool:
    """Tell whether this is a type of lists that each have elements of their own."""
    if types.is_fixed_size_list(kind):
        return bool(kind.list_size > 0)  # otherwise it takes no room, however many there are
    return bool(types.is_list(kind) or types.is_large_list(kind))


def _is_member_type(kind: pa.DataType, depth: int) -> bool:
    """Tell whether values within lists and structs can be of this type.

    Every such value takes room in the stream, so that a small stream cannot become a large value.
    That is not so for lists of nulls or of empty structs, dictionaries and views.
    """
    if is_text(kind) or types.is_boolean(kind) or types.is_integer(kind):
        return True
    if types.is_float32(kind) or types.is_float64(kind):
        return True
    if depth <= 0:
        return False
    if is_list(kind):
        return _is_member_type(kind.value_type, depth - 1)
    if types.is_struct(kind) and kind.num_fields:
        fields = [kind.field(place) for place in range(kind.num_fields)]
        names = {field.name for field in fields}
        return (
            len(names) == len(fields)
            and not any("\0" in name for name in names)
            and all(_is_member_type(field.type, depth - 1) for field in fields)
        )
    return False
