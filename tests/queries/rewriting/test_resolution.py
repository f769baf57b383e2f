"""Names, resolved as DuckDB does."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.block import read_block
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.resolution import resolved, without_common_tables
from upstream.queries.rewriting.trial import Trial

from ..parsed import query_of, select_of
from .random_steps import SCHEMAS


@pytest.fixture(scope="module")
def trial(tables: Duck) -> Trial:
    tables.rows("CREATE TABLE pairs (k BIGINT, p STRUCT(a INT, b STRUCT(c INT)))")
    return Trial(tables, SCHEMAS)


def _resolved(sql: str, trial: Trial) -> str:
    return resolved(read_block(select_of(sql), trial)).sql("duckdb")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT X FROM chunk_0 s", 'SELECT "s"."x" FROM chunk_0 AS s'),
        ("SELECT S.X FROM chunk_0 s", 'SELECT "s"."x" FROM chunk_0 AS s'),
        (
            "SELECT x + 1 AS y2 FROM chunk_0 s WHERE y2 > 1",
            'SELECT "s"."x" + 1 AS y2 FROM chunk_0 AS s WHERE ("s"."x" + 1) > 1',
        ),
        (
            "SELECT -x AS x FROM chunk_0 s WHERE x > 1 ORDER BY x, x + 0",
            'SELECT -"s"."x" AS x FROM chunk_0 AS s WHERE "s"."x" > 1 ORDER BY x, "s"."x" + 0',
        ),
        (
            (
                'SELECT s.* EXCLUDE (t, g, y, z, d, b, day, l, "Odd name") REPLACE (-x AS x)'
                " FROM chunk_0 s WHERE x > 1 ORDER BY X, x + 0, s.x, k"
            ),
            (
                'SELECT "s"."k" AS "k", -"s"."x" AS x FROM chunk_0 AS s WHERE "s"."x" > 1'
                ' ORDER BY X, "s"."x" + 0, "s"."x", "s"."k"'
            ),
        ),
        (
            "SELECT p.a, p.b.c, r.p.a FROM pairs r",
            'SELECT "r"."p"."a", "r"."p"."b"."c", "r"."p"."a" FROM pairs AS r',
        ),
        (
            "SELECT n.* EXCLUDE (since) REPLACE (id + k AS id) FROM chunk_0 s, names n",
            (
                'SELECT "n"."id" + "s"."k" AS id, "n"."name" AS "name", '
                '"n"."weight" AS "weight" FROM chunk_0 AS s, names AS n'
            ),
        ),
        (
            "SELECT k, s.k FROM chunk_0 s JOIN pairs r USING (k)",
            'SELECT k, "s"."k" FROM chunk_0 AS s JOIN pairs AS r USING (k)',
        ),
        (
            "SELECT list_transform(l, lambda e: e + x) FROM chunk_0 s",
            'SELECT LIST_TRANSFORM("s"."l", LAMBDA e : e + "s"."x") FROM chunk_0 AS s',
        ),
        (
            "SELECT (SELECT max(x) FROM names WHERE id = k) FROM chunk_0 s",
            "SELECT (SELECT MAX(x) FROM names WHERE id = k) FROM chunk_0 AS s",
        ),
        (
            "SELECT 1 FROM chunk_0 s JOIN names n ON k = id",
            'SELECT 1 FROM chunk_0 AS s JOIN names AS n ON "s"."k" = "n"."id"',
        ),
    ],
)
def test_each_name_is_resolved(sql: str, expected: str, trial: Trial) -> None:
    assert _resolved(sql, trial) == expected


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT s FROM chunk_0 s", "used as a row"),
        ("SELECT * FROM chunk_0 s JOIN pairs r USING (k)", "USING"),
        ("SELECT COLUMNS('x|y') FROM chunk_0 s", "COLUMNS"),
        ("SELECT a.x FROM chunk_0 a, chunk_1 A", "same name"),
        ("SELECT 1 FROM (SELECT 1)", "no name"),
        ("SELECT x AS v, -x AS v FROM chunk_0 s ORDER BY v", "v is the name of several columns"),
        ("SELECT x AS v, -x AS v, v + 1 FROM chunk_0 s", "v is the name of several columns"),
        ("SELECT x AS v, -x AS V FROM chunk_0 s WHERE v > 0", "v is the name of several columns"),
        ("SELECT -x AS x, x FROM chunk_0 s ORDER BY x", "x is the name of several columns"),
        ("SELECT *, -x AS x FROM chunk_0 s ORDER BY x", "x is the name of several columns"),
        ("SELECT DISTINCT ON (k) *, 1 AS k FROM chunk_0 s", "k is the name of several columns"),
    ],
)
def test_names_that_cannot_be_resolved_give_a_reason(sql: str, reason: str, trial: Trial) -> None:
    with pytest.raises(NotIncrementalError, match=reason):
        _resolved(sql, trial)


# Common tables


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
