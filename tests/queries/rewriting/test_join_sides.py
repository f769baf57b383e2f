"""The sides of a join: what is picked as it is, and which table may come last."""

from __future__ import annotations

import pyarrow as pa
import pytest
import sqlglot

from upstream.database.duck import Duck
from upstream.queries.rewriting.join_sides import plain_columns, with_last
from upstream.queries.rewriting.split import split
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


def test_columns_are_picked_as_they_are_unless_rows_are_left_out() -> None:
    text = "SELECT a.x, b.x FROM chunk_0 a JOIN chunk_1 b ON a.k = b.k WHERE b.x > 1"
    query = sqlglot.parse_one(text, dialect="duckdb")
    duck = Duck()
    schemas = {"chunk_0": SCHEMA, "chunk_1": SCHEMA}
    # parse_one is typed wider than the query that it gives
    [leaf] = split(query, (WINDOW, WINDOW), schemas, duck).leaves  # type: ignore[arg-type]
    duck.close()
    assert plain_columns(leaf, 0) == ("k", "x")
    assert plain_columns(leaf, 1) is None


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("SELECT * FROM a JOIN b ON a.k = b.k", "SELECT * FROM b JOIN a ON a.k = b.k"),
        ("SELECT * FROM b JOIN a ON a.k = b.k", None),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k", None),
        ("SELECT * FROM a SEMI JOIN b ON a.k = b.k", None),
        ("SELECT * FROM a ASOF JOIN b ON a.k >= b.k", None),
        ("SELECT * FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k", None),
        ("SELECT * FROM (SELECT 1 AS k) AS d JOIN a ON a.k = d.k", None),
        ("SELECT 1", None),
    ],
)
def test_two_tables_change_places_where_that_changes_nothing(text: str, turned: str | None) -> None:
    query = sqlglot.parse_one(text, dialect="duckdb")
    # parse_one is typed wider than the query that it gives
    assert with_last(query, "a").sql("duckdb") == (turned or text)  # type: ignore[arg-type]
    assert query.sql("duckdb") == text
