"""Which tables a query names, and others put in their place."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from upstream.database.duck import Duck
from upstream.queries.rewriting.split import split
from upstream.queries.rewriting.table_names import reads_tables, renamed_tables
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = Duck()
    duck.run_as_written("CREATE TABLE names (k TEXT, name TEXT)", {})
    yield duck
    duck.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT x FROM chunk_0", False),
        ("WITH own AS (SELECT x FROM chunk_0) SELECT max(x) AS x FROM own", False),
        ("SELECT name FROM chunk_0 JOIN names USING (k)", True),
        ("SELECT x FROM chunk_0 WHERE k IN (SELECT k FROM names)", True),
    ],
)
def test_a_table_is_what_is_neither_a_chunk_nor_defined_in_the_query(
    text: str, expected: bool, duck: Duck
) -> None:
    query = parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    assert reads_tables(split(query, (WINDOW,), {"chunk_0": SCHEMA}, duck)) is expected


def test_tables_get_other_names_and_keep_what_the_query_calls_them() -> None:
    text = "SELECT chunk_1.x, b.y FROM chunk_1, chunk_0 AS b, other, db.chunk_0"
    query = parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    renamed = renamed_tables(query, {"chunk_0": "lent_7", "chunk_1": "chunk_0"})
    assert renamed.sql("duckdb") == (
        'SELECT chunk_1.x, b.y FROM "chunk_0" AS "chunk_1", "lent_7" AS b, other, db.chunk_0'
    )
    assert query.sql("duckdb") == text
