"""Integers of 128 bits in tables that are lent to DuckDB.

DuckDB returns a HUGEINT as Arrow's DECIMAL(38, 0). To cast it back takes DuckDB 47 ns a value,
which is ten times what an aggregate over it takes. Both types store the same 128 bits. So a column
can be lent under a label with which DuckDB reads it as HUGEINT, without a copy.
"""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Final

import pyarrow as pa

_DECIMAL: Final = pa.decimal128(38, 0)
_STORED: Final = pa.binary(16)
_LABEL: Final = {
    "ARROW:extension:name": "arrow.opaque",
    "ARROW:extension:metadata": json.dumps({"type_name": "hugeint", "vendor_name": "DuckDB"}),
}


def with_wide_integers(schema: pa.Schema, names: Container[str]) -> pa.Schema:
    """Return the schema in which those of these columns are HUGEINT that are DECIMAL(38, 0)."""
    fields = [
        pa.field(each.name, _STORED, each.nullable, _LABEL)
        if each.name in names and each.type == _DECIMAL
        else each
        for each in schema
    ]
    return pa.schema(fields, schema.metadata)


def labelled(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table under a schema that `with_wide_integers` returned. Nothing is copied."""
    if table.schema.types == schema.types:
        return table
    columns = [
        pa.chunked_array([chunk.view(_STORED) for chunk in column.chunks], _STORED)
        if column.type != field.type
        else column
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)
