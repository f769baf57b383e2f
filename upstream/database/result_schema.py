"""The columns of a query's results: as DuckDB returns them, and as users receive them.

DuckDB sums integers as HUGEINT, which has 128 bits and exists in Arrow only as DECIMAL(38, 0).
Users receive int64 instead, also within lists, structs and maps, so that JSON contains numbers. The
schema never depends on the data: a value that does not fit in int64 is an error. Arrow cannot tell
a HUGEINT from a DECIMAL(38, 0) that the user wrote, so DuckDB's types decide.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ..errors import QueryTypeError

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

_CURE: Final = "write sum(x)::DECIMAL(38, 0) for integers of any size"
_MANY: Final = 1_000
"""From this number of values on it is quicker to split integers here than with Arrow."""
_WIDE: Final = "decimal128(38, 0)"
"""Arrow's type for a HUGEINT and for a UHUGEINT, in a column or within it."""


@dataclass(frozen=True, slots=True)
class ResultSchema:
    """The columns of results as DuckDB returns them (`inner`) and as users get them (`outer`)."""

    inner: pa.Schema
    outer: pa.Schema
    _between: pa.Schema
    """The inner schema with each UHUGEINT as uint64: from 2^127 on DuckDB returns a negative
    number."""

    @classmethod
    def of(cls, schema: pa.Schema, types: Sequence[DuckDBPyType]) -> ResultSchema:
        """Return the schema of results whose columns have these types in DuckDB."""
        if _WIDE not in str(schema):
            return cls(schema, schema, schema)
        signed = {"hugeint": pa.int64(), "uhugeint": pa.int64()}
        unsigned = signed | {"uhugeint": pa.uint64()}
        return cls(schema, _with(schema, types, signed), _with(schema, types, unsigned))

    def handed_out(self, table: pa.Table, text: str = "") -> pa.Table:
        """Return a result for users; raise QueryTypeError if a value does not fit in int64.

        `text` is the statement.
        """
        if self.outer is self.inner:
            return table
        columns = []
        for column, between, outer in zip(table.columns, self._between, self.outer, strict=True):
            try:
                columns.append(_cast(_cast(column, between.type), outer.type))
            except pa.ArrowInvalid as error:
                reason = f"column {outer.name} has an integer that does not fit in 64 bits"
                raise QueryTypeError(reason, text, hint=_CURE) from error
        return pa.Table.from_arrays(columns, schema=self.outer)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type.equals(kind):
        return column
    if len(column) >= _MANY and str(column.type) == _WIDE and kind.equals(pa.int64()):
        halves = [_lower_half(chunk) for chunk in column.chunks]
        if all(half is not None for half in halves):
            return pa.chunked_array(halves, kind)
    return column.cast(kind)


def _lower_half(column: pa.Array) -> pa.Array | None:
    """Return integers of 128 bits as int64, or None if any of them does not fit.

    Arrow's own cast takes six times as long, which was a quarter of a slide with 200,000 groups.
    """
    if not len(column) or column.null_count or sys.byteorder != "little":
        return None
    words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    lower, upper = words[column.offset : column.offset + len(column)].T
    if (upper != lower >> 63).any():
        return None
    return pa.array(np.ascontiguousarray(lower))


def _with(
    schema: pa.Schema, types: Sequence[DuckDBPyType], wide: Mapping[str, pa.DataType]
) -> pa.Schema:
    fields = [
        field.with_type(_narrowed(field.type, each, wide))
        for field, each in zip(schema, types, strict=True)
    ]
    return pa.schema(fields, schema.metadata)


def _narrowed(kind: pa.DataType, of: DuckDBPyType, wide: Mapping[str, pa.DataType]) -> pa.DataType:
    """Return a type with its wide integers replaced; `of` is DuckDB's name of the type."""
    if of.id in wide:
        return wide[of.id]
    if of.id not in ("list", "array", "struct", "map"):
        return kind
    types = [each for _, each in of.children if not isinstance(each, int | list)]
    fields = [
        field.with_type(_narrowed(field.type, each, wide))
        for field, each in zip(_fields(kind), types, strict=True)
    ]
    if pa.types.is_struct(kind):
        return pa.struct(fields)
    if pa.types.is_map(kind):
        return pa.map_(*fields)
    return pa.list_(fields[0], kind.list_size if pa.types.is_fixed_size_list(kind) else -1)


def _fields(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_struct(kind):
        return list(kind)
    return [kind.key_field, kind.item_field] if pa.types.is_map(kind) else [kind.value_field]
