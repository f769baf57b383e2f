"""Which blocks join inputs, and which subqueries are written as semi joins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlglot import exp

from tests.queries.parsed import query_of, select_of
from upstream.database.duck import Duck
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.paired_blocks import flatten, joining_block
from upstream.queries.rewriting.resolution import without_common_tables
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.functions import functions_of
from upstream.queries.sql.trees import chunks_in

from .test_paired import SCHEMAS


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    with closing(Duck()) as duck:
        duck.rows("CREATE TABLE names (k BIGINT, name VARCHAR)")
        duck.run_as_written("CREATE MACRO known(n) AS n IN (SELECT k FROM names)", {})
        yield duck


def block_of(sql: str, duck: Duck) -> exp.Select:
    query = query_of(sql, DIALECT)
    for select in query.find_all(exp.Select):
        flatten(select)
    windows = frozenset(chunks_in(query))
    query = without_common_tables(query)
    return joining_block(query, windows, Trial(duck, SCHEMAS), functions_of(duck))


@pytest.mark.parametrize(
    ("sql", "block"),
    [
        (
            "SELECT max(v) FROM (SELECT v FROM chunk_0 x, chunk_1 y) p",
            "SELECT v FROM chunk_0 AS x, chunk_1 AS y",
        ),
        (
            "SELECT v FROM (SELECT * FROM chunk_0) x, chunk_1 y",
            "SELECT v FROM (SELECT * FROM chunk_0) AS x, chunk_1 AS y",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE v > 1 AND EXISTS (FROM chunk_1 y WHERE k = x.k)",
            'SELECT v FROM chunk_0 AS x SEMI JOIN chunk_1 AS y ON ("y"."k" = "x"."k") WHERE v > 1',
        ),
        (
            "SELECT v FROM chunk_0 x WHERE NOT EXISTS (SELECT 1 FROM chunk_1 y)",
            "SELECT v FROM chunk_0 AS x ANTI JOIN chunk_1 AS y ON TRUE",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE (v + 1) IN (SELECT w FROM chunk_1 y WHERE w > v)",
            (
                "SELECT v FROM chunk_0 AS x SEMI JOIN chunk_1 AS y"
                ' ON (("x"."v" + 1)) = "y"."w" AND ("y"."w" > "x"."v")'
            ),
        ),
    ],
)
def test_the_block_that_joins_the_inputs_is_found(sql: str, block: str, duck: Duck) -> None:
    assert block_of(sql, duck).sql(DIALECT) == block


def test_a_from_without_select_has_its_joins_where_others_have_them() -> None:
    select = select_of("FROM chunk_0 x JOIN chunk_1 y USING (k)")
    flatten(select)
    assert not select.args["from_"].this.args.get("joins")
    assert [join.this.alias for join in select.args["joins"]] == ["y"]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (
            "SELECT v FROM (chunk_0 x JOIN chunk_1 y ON x.k = y.k)",
            "joins in brackets are not made of pairs of rows",
        ),
        (
            "SELECT v FROM chunk_0 x UNION ALL SELECT w FROM chunk_1 y",
            (
                "the inputs must be joined in one FROM, or one of them by EXISTS or IN in WHERE,"
                " which is not joined to other conditions by OR"
            ),
        ),
        (
            "SELECT v FROM chunk_0 x WHERE v > 1 OR EXISTS (FROM chunk_1 y WHERE y.k = x.k)",
            (
                "the inputs must be joined in one FROM, or one of them by EXISTS or IN in WHERE,"
                " which is not joined to other conditions by OR"
            ),
        ),
        (
            "SELECT v FROM chunk_0 x, chunk_1 y WHERE EXISTS (FROM chunk_2 z WHERE z.k = x.k)",
            "the inputs must be joined in one FROM; with three and more there is no EXISTS or IN",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE v NOT IN (SELECT w FROM chunk_1 y)",
            "NOT IN is never true if there is a NULL among the values: write NOT EXISTS",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE v IN (SELECT note FROM chunk_1 y)",
            "the two sides of IN have different types: cast one of them",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE (k, v) IN (SELECT k, w FROM chunk_1 y)",
            "a subquery in EXISTS or IN must select plain columns, and after IN one of them",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE EXISTS (SELECT count(*) FROM chunk_1 y WHERE y.k = x.k)",
            "a subquery in EXISTS or IN must select plain columns, and after IN one of them",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE EXISTS (SELECT 1 FROM chunk_1 y LIMIT 0)",
            "a subquery in EXISTS or IN must have nothing but SELECT, FROM and WHERE",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE EXISTS (FROM chunk_1 y, names n WHERE y.k = n.k)",
            "a subquery in EXISTS or IN must read one stream, without others",
        ),
        (
            "SELECT v FROM chunk_0 x, names n WHERE EXISTS (FROM chunk_1 y WHERE y.k = n.k)",
            "n.k in EXISTS or IN is not a column of the two streams",
        ),
        (
            "SELECT v FROM names n, chunk_0 x WHERE EXISTS (FROM chunk_1 y WHERE y.k = x.k)",
            "the stream must come first in FROM, and tables after it",
        ),
        (
            "SELECT v FROM chunk_0 x WHERE EXISTS (FROM chunk_1 x WHERE w > 1)",
            "two relations are called x: rename one of them",
        ),
        (
            (
                "SELECT v FROM chunk_0 x WHERE EXISTS"
                " (FROM chunk_1 y WHERE y.k = x.k AND w IN (SELECT k FROM names))"
            ),
            "a condition in EXISTS or IN has a subquery or an aggregate",
        ),
        (
            "SELECT x.v FROM chunk_0 x JOIN chunk_1 y USING (k) JOIN chunk_0 z USING (k)",
            "the rows of an input are read more than once",
        ),
        ("SELECT v FROM chunk_0 x", "a join needs two inputs"),
        (
            "SELECT l FROM chunk_0 x(l) JOIN chunk_1 y ON l = y.k",
            "the columns of x are renamed in FROM: rename them in SELECT",
        ),
        (
            "SELECT * FROM (SELECT DISTINCT k FROM chunk_0) x JOIN chunk_1 y USING (k)",
            "in a subquery that is joined, DISTINCT needs all rows",
        ),
        (
            "SELECT * FROM (SELECT max(k) AS k FROM chunk_0) x JOIN chunk_1 y USING (k)",
            "in a subquery that is joined, an aggregate needs all rows",
        ),
        (
            "SELECT * FROM (SELECT x.k FROM chunk_0 x, names) x JOIN chunk_1 y USING (k)",
            "in a subquery that is joined, rows must be selected from one stream, without others",
        ),
        (
            "SELECT * FROM (FROM chunk_0 WHERE k IN (SELECT k FROM names)) x, chunk_1 y",
            "in a subquery that is joined, rows must be selected from one stream, without others",
        ),
        (
            "SELECT * FROM (FROM chunk_0 WHERE known(k)) x, chunk_1 y",
            "in a subquery that is joined, a macro reads a table",
        ),
        (
            "SELECT * FROM (SELECT k, unnest([1, 2]) AS u FROM chunk_0) x JOIN chunk_1 y USING (k)",
            "an expression makes several rows of one",
        ),
        (
            "SELECT * FROM (SELECT * REPLACE (unnest([1]) AS k) FROM chunk_0) x, chunk_1 y",
            "an expression makes several rows of one",
        ),
    ],
)
def test_other_blocks_are_refused_with_a_reason(sql: str, reason: str, duck: Duck) -> None:
    with pytest.raises(NotIncrementalError) as refused:
        block_of(sql, duck)
    assert refused.value.reason == reason
