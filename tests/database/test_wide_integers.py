"""Integers of 128 bits are lent to DuckDB under a label, and stay the same."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from upstream.database.wide_integers import labelled, with_wide_integers

DECIMAL = pa.decimal128(38, 0)
SCHEMA = pa.schema([("sum", DECIMAL), ("amount", DECIMAL), ("count", pa.int64())])
LARGEST = 10**38 - 1


def lent(rows: pa.Table) -> pa.Table:
    """Return rows under a schema in which `sum` and `count` may be wide integers."""
    return labelled(rows, with_wide_integers(rows.schema, {"sum", "count"}))


def read(rows: pa.Table, columns: str) -> list[tuple[object, ...]]:
    """Return what DuckDB reads of rows."""
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        return connection.execute(f"SELECT {columns} FROM rows").fetchall()


def test_duckdb_reads_a_labelled_decimal_as_a_hugeint() -> None:
    rows = lent(pa.table({"sum": [1], "amount": [2], "count": [3]}, SCHEMA))
    types = read(rows, "typeof(sum), typeof(amount), typeof(count)")
    assert types == [("HUGEINT", "DECIMAL(38,0)", "BIGINT")]


def test_a_table_without_wide_integers_is_lent_as_it_is() -> None:
    rows = pa.table({"count": [3]})
    assert lent(rows) is rows


def test_nothing_is_copied() -> None:
    rows = pa.table({"sum": [1], "amount": [2], "count": [3]}, SCHEMA)
    memory = [table.column("sum").chunk(0).buffers()[1].address for table in (rows, lent(rows))]
    assert memory[0] == memory[1]


@given(some.lists(some.none() | some.integers(-LARGEST, LARGEST)), some.integers(0, 5))
def test_every_value_stays_the_same(values: list[int | None], start: int) -> None:
    exact = [None if value is None else Decimal(value) for value in values]
    column = pa.chunked_array([pa.array(exact[:2], DECIMAL), pa.array(exact[2:], DECIMAL)])
    rows = lent(pa.table({"sum": column}).slice(start))
    assert read(rows, "sum") == [(value,) for value in values[start:]]
