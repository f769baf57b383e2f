"""Rows that are lent to statements, and a look at what is lent."""

from __future__ import annotations

import pyarrow as pa

from upstream.database.duck import Duck

SCHEMA = pa.schema({"k": pa.string(), "v": pa.int64()})


def table(*values: int) -> pa.Table:
    return pa.table({"k": ["a"] * len(values), "v": values}, schema=SCHEMA)


def views(duck: Duck) -> list[tuple[str, ...]]:
    """Return the names that are lent at this moment."""
    return duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")
