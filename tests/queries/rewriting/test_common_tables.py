"""WITH taken away."""

from __future__ import annotations

import pytest

from upstream.queries.rewriting.common_tables import without_common_tables
from upstream.queries.rewriting.not_incremental import NotIncrementalError

from ..parsed import query_of


def _without(sql: str) -> str:
    return without_common_tables(query_of(sql)).sql("duckdb")


def test_names_are_exchanged_for_queries_one_after_the_other() -> None:
    sql = "WITH a AS (SELECT 1 AS x), b(y) AS (SELECT x FROM a AS r) SELECT * FROM b, A AS c"
    assert _without(sql) == (
        'SELECT * FROM (SELECT x FROM (SELECT 1 AS x) AS "r") AS "b"(y), (SELECT 1 AS x) AS "c"'
    )


def test_an_inner_name_hides_an_outer_one() -> None:
    sql = "WITH a AS (SELECT 1) SELECT * FROM (WITH a AS (SELECT 2) SELECT * FROM a) AS r, a"
    assert _without(sql) == (
        'SELECT * FROM (SELECT * FROM (SELECT 2) AS "a") AS r, (SELECT 1) AS "a"'
    )


def test_a_table_of_the_same_name_inside_its_own_query_is_the_table() -> None:
    assert _without("WITH a AS (SELECT * FROM a) SELECT * FROM a") == (
        'SELECT * FROM (SELECT * FROM a) AS "a"'
    )


def test_columns_renamed_where_it_is_read_win() -> None:
    sql = "WITH a(x, y) AS (SELECT 1, 2) SELECT * FROM a AS r(z)"
    assert _without(sql) == 'SELECT * FROM (SELECT 1, 2) AS "r"(z, y)'


def test_a_recursive_one_cannot_be_taken_away() -> None:
    with pytest.raises(NotIncrementalError, match="RECURSIVE"):
        _without("WITH RECURSIVE a AS (SELECT 1 UNION ALL SELECT * FROM a) SELECT * FROM a")
