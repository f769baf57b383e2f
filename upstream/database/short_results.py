"""Results of a few rows, which are quicker to take as Python values than as Arrow from DuckDB.

DuckDB makes Arrow of a prepared statement's result by a second statement, which costs as much as
the first one where there are few rows. Only types are taken whose every value Python has: times
reach beyond what datetime can, and are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

SHORT_ROWS: Final = 64
"""From here on it is quicker by Arrow."""


def has_plain_types(schema: pa.Schema) -> bool:
    """Tell whether Python has every value that these types have."""
    import pyarrow as pa

    types = pa.types
    return len(schema) > 0 and all(
        types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_float64(kind)
        or types.is_decimal128(kind)
        or types.is_string(kind)
        for kind in schema.types
    )


def table_of(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    """Return rows of Python values as a table; ArrowException if a value does not fit."""
    import pyarrow as pa

    if not rows:
        return schema.empty_table()
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
