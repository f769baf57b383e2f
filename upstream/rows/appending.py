"""What `append` is given, as an Arrow table: Python's values go by the stream's types.

Arrow guesses the type of a list, and gives up where values are of several types or too large for
any. So a column that cannot be guessed is read as what the stream wants, or else the error names
the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Final, Never

from ..errors import StreamTypeError
from .arrow_data import as_arrow
from .type_names import type_name

if TYPE_CHECKING:
    import pyarrow as pa

    from .stream_definition import StreamDefinition

_UNFIT: Final = (OverflowError, TypeError, ValueError)
"""What Arrow raises of values; its own exceptions are among these."""


def rows_to_append(data: object, definition: StreamDefinition) -> pa.Table:
    """Return data as an Arrow table; StreamTypeError if a value fits into no column.

    ParameterError if it is not data at all.
    """
    if isinstance(data, list | tuple) and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        data = {name: [row.get(name) for row in data] for name in names}
    if isinstance(data, Mapping):
        data = {name: _column(name, values, definition) for name, values in data.items()}
    return as_arrow(data)


def _column(name: object, values: object, definition: StreamDefinition) -> object:
    """Return the values of a column as an array, if they are a list."""
    import pyarrow as pa

    column = definition.column_named(name) if isinstance(name, str) else None
    if column is None or not isinstance(values, list | tuple):
        return values  # an error of the name, or what Arrow knows the type of
    try:
        array = pa.array(values)
    except _UNFIT:
        kind = definition.schema.field(column).type
        if pa.types.is_temporal(kind):
            _refuse(definition, column, values, _first_of_another_type(values))
        try:
            return pa.array(values, type=kind)
        except _UNFIT:
            rows = (row for row, value in enumerate(values) if not _is_one(value, kind))
            _refuse(definition, column, values, next(rows, 0))
    if pa.types.is_temporal(array.type):  # among times, Arrow takes numbers for times as well
        numbers = (row for row, value in enumerate(values) if isinstance(value, int | float))
        if (row := next(numbers, None)) is not None:
            _refuse(definition, column, values, row)
    return array


def _is_one(value: object, kind: pa.DataType) -> bool:
    import pyarrow as pa

    try:
        pa.array([value], type=kind)
    except _UNFIT:
        return False
    return True


def _first_of_another_type(values: Sequence[object]) -> int:
    first = next((value for value in values if value is not None), None)
    others = (
        row
        for row, value in enumerate(values)
        if value is not None and type(value) is not type(first)
    )
    return next(others, 0)


def _refuse(definition: StreamDefinition, column: str, values: Sequence[object], row: int) -> Never:
    kind = definition.schema.field(column).type
    given = type(values[row]).__name__
    reason = f"{shorten(values[row])} of type {given} does not fit into {type_name(kind)}"
    raise StreamTypeError(definition.name, reason, column=column, row=row) from None
