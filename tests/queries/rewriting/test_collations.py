"""Collations of columns, which DuckDB reports only in the text of a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.collations import (
    check_comparable,
    collated,
    collation_of,
    is_unknown,
    may_collate,
    plain,
)
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.trees import column

from ..parsed import query_of


def _types(sql: str, duck: Duck) -> tuple[str, ...]:
    schemas = {"chunk_0": pa.schema([("s", pa.string()), ("x", pa.int64())])}
    return Trial(duck, schemas, collates=True).columns(query_of(sql)).types


def test_a_type_says_its_collation(duck: Duck) -> None:
    sql = "SELECT s COLLATE NOCASE.NOACCENT, s, x, max(s) COLLATE de FROM chunk_0 GROUP BY ALL"
    types = _types(sql, duck)
    assert [plain(each) for each in types] == ["VARCHAR", "VARCHAR", "BIGINT", "VARCHAR"]
    assert [collation_of(each).lower() for each in types] == ["nocase.noaccent", "", "", "de"]


def test_columns_of_one_name_and_values_of_lists_are_distinguished(duck: Duck) -> None:
    types = _types("SELECT s AS a, s COLLATE NOCASE AS a, [s], [x] FROM chunk_0", duck)
    assert [collation_of(each).lower() for each in types] == ["", "nocase", "?", ""]
    assert [is_unknown(each) for each in types] == [False, False, True, False]


def test_asking_leaves_nothing_behind(duck: Duck) -> None:
    _types("SELECT s COLLATE NOCASE FROM chunk_0", duck)
    assert not duck.rows("SELECT * FROM duckdb_tables()")


def test_the_default_collation_is_that_of_all_texts(duck: Duck) -> None:
    duck.rows("SET default_collation = 'nocase'")
    assert may_collate(query_of("SELECT 1"), duck)
    types = _types('SELECT s, s COLLATE "binary", x FROM chunk_0', duck)
    assert [collation_of(each).lower() for each in types] == ["nocase", "binary", ""]


def test_tables_and_macros_of_a_query_may_collate(duck: Duck) -> None:
    for statement in (
        'CREATE TABLE "odd name" (n TEXT COLLATE NOCASE)',
        'CREATE VIEW first_view AS SELECT n FROM "odd name"',
        "CREATE VIEW second_view AS SELECT n FROM first_view",
        "CREATE MACRO folded(s) AS s::VARCHAR COLLATE NOCASE",
        "CREATE TABLE plain_table (m TEXT)",
    ):
        duck.run_as_written(statement, {})
    assert may_collate(query_of('SELECT n FROM "odd name"'), duck)
    assert may_collate(query_of("SELECT n FROM second_view"), duck)
    assert may_collate(query_of("SELECT folded(m) FROM plain_table"), duck)
    assert may_collate(query_of("SELECT max(m COLLATE NOCASE) FROM plain_table"), duck)
    assert not may_collate(query_of("SELECT max(m) FROM plain_table"), duck)


def test_only_types_with_a_collation_are_given_one_and_are_not_comparable() -> None:
    tree = collated(column("s"), "VARCHAR COLLATE nocase")
    assert tree.sql("duckdb") == '("s" COLLATE nocase)'
    assert collated(column("s"), "VARCHAR").sql("duckdb") == '"s"'
    with pytest.raises(NotIncrementalError, match=r"\(nocase\).* such as lower"):
        check_comparable("VARCHAR COLLATE nocase")
    check_comparable("ENUM('a COLLATE b')")
