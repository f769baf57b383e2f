"""Converts data from outside, in any supported form, to an Arrow table.

Arrow guesses the type of a list, and fails if values have several types or are too large. So when
rows are for a stream, a column whose type cannot be guessed is read with the stream's type;
otherwise the error names the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Final, Never

import numpy as np

from ..errors import ParameterError, StreamTypeError
from .type_names import type_name

if TYPE_CHECKING:
    import pyarrow as pa

    from .stream_definition import StreamDefinition

_UNFIT: Final = (OverflowError, TypeError, ValueError)
"""Exceptions that Arrow raises for values; its own exceptions are subclasses of these."""


def as_arrow(data: object) -> pa.Table:
    """Return an Arrow table; raise ParameterError if the data cannot be converted.

    Accepts Arrow tables and record batches, DataFrames of pandas and polars and other objects with
    Arrow's C stream protocol, mappings of names to columns, and lists of mappings. Arrow data is
    not copied, since it never changes. Arrays of NumPy and pandas are copied.
    """
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    _refuse_unread(data)
    try:
        if hasattr(data, "dtypes") and hasattr(data, "index") and hasattr(data, "copy"):
            return pa.Table.from_pandas(data.copy(), preserve_index=False)
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data).read_all()
        if isinstance(data, Mapping):
            return pa.table({name: _owned(column) for name, column in data.items()})
        if isinstance(data, list | tuple):
            return pa.Table.from_pylist(list(data))
    except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
        raise ParameterError("data", data, f"rows that Arrow can hold ({error})") from error
    raise ParameterError(
        "data", data, "an Arrow table, a DataFrame, a mapping of columns or a list of mappings"
    )


def _refuse_unread(data: object) -> None:
    """Refuse an object that only refers to rows; polars warns when such a plan is inspected."""
    if isinstance(data, str | Path):
        ways = "read a file with pyarrow.csv.read_csv(), or load it with create_table()"
        raise ParameterError("data", data, f"rows ({ways})")
    if type(data).__name__ == "LazyFrame":
        raise ParameterError("data", type(data), "rows (collect() a LazyFrame first)")


def _owned(column: object) -> object:
    """Return a column that does not change when the caller's array does."""
    return column.copy() if isinstance(column, np.ndarray) else column


def rows_to_append(data: object, definition: StreamDefinition) -> pa.Table:
    """Return data as an Arrow table; raise StreamTypeError if a value does not fit its column.

    Raises ParameterError if it is not data at all.
    """
    if isinstance(data, list | tuple) and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        data = {name: [row.get(name) for row in data] for name in names}
    if isinstance(data, Mapping):
        data = {name: _column(name, values, definition) for name, values in data.items()}
    return as_arrow(data)


def _column(name: object, values: object, definition: StreamDefinition) -> object:
    """Return the values of a column as an array if they are a list."""
    import pyarrow as pa

    column = definition.column_named(name) if isinstance(name, str) else None
    if column is None or not isinstance(values, list | tuple):
        return values  # the name is wrong, or Arrow knows the type
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
    # with times in a list, Arrow reads numbers as times as well
    if pa.types.is_temporal(array.type):
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


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table without rows; Arrow itself cannot make one for a union."""
    import pyarrow as pa

    return pa.Table.from_batches([], schema=schema)


def no_rows() -> pa.Table:
    """Return a table without rows and columns, for statements without a result."""
    import pyarrow as pa

    return pa.table({})
