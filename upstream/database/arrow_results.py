"""Results of DuckDB as Arrow tables.

Results of a few rows are quicker to take as Python values. DuckDB makes an Arrow table of a
prepared statement's result with a second statement, which costs as much as the first one when there
are few rows. Only types whose every value exists in Python are taken in this way: times, for
example, can lie outside the range of datetime.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection, Statement
    from duckdb.sqltypes import DuckDBPyType

    Types = Sequence[DuckDBPyType]

SHORT_ROWS: Final = 64
"""From this number of rows on, Arrow is quicker."""
_COPY: Final = "Arrow output on a DB-API result makes an extra copy"
"""How DuckDB's warning begins. DuckDB recommends a relation instead, which costs more than the
copy, since it cannot be prepared."""
_HERE: Final = re.escape(__name__) + "$"
_FILTER: Final = ("ignore", re.compile(_COPY, re.IGNORECASE), UserWarning, re.compile(_HERE), 0)
"""The filter as `warnings.filters` has it."""


def as_arrow(connection: DuckDBPyConnection) -> pa.Table:
    """Return the rest of the result of the last statement.

    The filter that silences DuckDB's warning names this module, so it changes nothing for other
    code. It is set once, and again only after other code has set its own filters. Exchanging all
    filters for each result, as `warnings.catch_warnings` does, would disturb other threads.
    """
    if not warnings.filters or warnings.filters[0] != _FILTER:
        warnings.filterwarnings("ignore", _COPY, UserWarning, _HERE)
    return connection.to_arrow_table()


def run_once(connection: DuckDBPyConnection, statement: Statement) -> tuple[pa.Table, Types]:
    """Run a statement, and return its result and DuckDB's types of the columns.

    The table has no columns if the statement has no result.
    """
    if statement.type == duckdb.StatementType.SELECT:
        return run_query(connection, statement)
    result = connection.sql(statement)
    return (pa.table({}), ()) if result is None else (result.to_arrow_table(), result.types)


def run_query(connection: DuckDBPyConnection, query: Statement | str) -> tuple[pa.Table, Types]:
    """Run a query, and return its result and DuckDB's types of the columns."""
    connection.execute(query)  # a relation would ignore Ctrl-C
    types = [column[1] for column in connection.description or ()]
    return as_arrow(connection), types


def has_plain_types(schema: pa.Schema) -> bool:
    """Tell whether every value of these types exists in Python."""
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
    if not rows:
        return schema.empty_table()
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
