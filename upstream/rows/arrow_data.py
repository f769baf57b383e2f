"""Data from outside, in whichever form it comes, as an Arrow table.

Arrow guesses the type of a list, and gives up where values are of several types or too large for
any. So of rows for a stream, a column that cannot be guessed is read as what the stream wants, or
else the error names the row.
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
"""What Arrow raises of values; its own exceptions are among these."""


def as_arrow(data: object) -> pa.Table:
    """Return an Arrow table; ParameterError if there is no way to make one.

    Takes Arrow tables and record batches, DataFrames of pandas and polars and whatever else speaks
    Arrow's C stream protocol, mappings of names to columns, and lists of mappings. What is Arrow's
    is not copied, since it never changes; NumPy's and pandas' arrays are.
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
    """Refuse what stands for rows that are elsewhere; polars warns when a plan is looked at."""
    if isinstance(data, str | Path):
        ways = "read a file with pyarrow.csv.read_csv(), or make a table of it with create_table()"
        raise ParameterError("data", data, f"rows ({ways})")
    if type(data).__name__ == "LazyFrame":
        raise ParameterError("data", type(data), "rows (collect() a LazyFrame first)")


def _owned(column: object) -> object:
    """Return a column that does not change when the caller's array does."""
    return column.copy() if isinstance(column, np.ndarray) else column


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


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table without rows; Arrow itself can make none of a union."""
    import pyarrow as pa

    return pa.Table.from_batches([], schema=schema)


def no_rows() -> pa.Table:
    """Return a table of nothing, as the answer of a statement that has none."""
    import pyarrow as pa

    return pa.table({})
