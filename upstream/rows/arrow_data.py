"""Data from outside, in whichever form it comes, as an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa


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


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table without rows; Arrow itself can make none of a union."""
    import pyarrow as pa

    return pa.Table.from_batches([], schema=schema)


def no_rows() -> pa.Table:
    """Return a table of nothing, as the answer of a statement that has none."""
    import pyarrow as pa

    return pa.table({})
