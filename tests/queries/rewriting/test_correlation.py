"""Which columns in a subquery belong to the query around it, and how they are named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.rewriting.block import read_block
from upstream.queries.rewriting.correlation import columns_of, own_aliases, qualify
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.resolution import resolved
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.functions import functions_of
from upstream.queries.sql.trees import key

from ..parsed import query_of
from .random_steps import SCHEMAS


def qualified(condition: str, duck: Duck, start: str = "chunk_0 s, names n") -> str:
    """Return a condition in WHERE after its block was resolved and qualified."""
    select = query_of(f"SELECT count(*) FROM {start} WHERE {condition}", DIALECT)
    assert isinstance(select, exp.Select)
    trial = Trial(duck, SCHEMAS)
    block = read_block(select, trial)
    block = replace(block, select=resolved(block))
    qualify(block, trial, functions_of(duck))
    return key(block.select.args["where"].this)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        # u has k and weight is of n only
        (
            "EXISTS (SELECT * FROM chunk_1 u WHERE k = weight)",
            'EXISTS(SELECT * FROM chunk_1 AS u WHERE k = "n"."weight")',
        ),
        (
            "EXISTS (SELECT * FROM chunk_1 u WHERE u.k = s.k)",
            'EXISTS(SELECT * FROM chunk_1 AS u WHERE u.k = "s"."k")',
        ),
        # in spite of the block between
        (
            "x IN (SELECT v FROM range(3) r(v) WHERE v IN (SELECT x FROM chunk_1 u WHERE v = id))",
            (
                '"s"."x" IN (SELECT v FROM RANGE(3) AS r(v) WHERE v IN '
                '(SELECT x FROM chunk_1 AS u WHERE v = "n"."id"))'
            ),
        ),
        # both sides of a union
        (
            "x IN (SELECT x FROM chunk_1 u WHERE id = 1 UNION SELECT id)",
            '"s"."x" IN (SELECT x FROM chunk_1 AS u WHERE "n"."id" = 1 UNION SELECT "n"."id")',
        ),
        # the alias of a select item is not a column of the query around
        (
            "EXISTS (SELECT x + 1 AS name FROM chunk_1 u WHERE name = 2)",
            "EXISTS(SELECT x + 1 AS name FROM chunk_1 AS u WHERE name = 2)",
        ),
        # n is a struct here, and no relation
        (
            "EXISTS (SELECT * FROM (SELECT {'id': 1} AS n) q WHERE n.id = s.k)",
            'EXISTS(SELECT * FROM (SELECT {\'id\': 1} AS n) AS q WHERE "q"."n"."id" = "s"."k")',
        ),
        # an alias hides that of the query around
        (
            "EXISTS (SELECT * FROM chunk_1 s WHERE s.k = 1)",
            "EXISTS(SELECT * FROM chunk_1 AS s WHERE s.k = 1)",
        ),
    ],
)
def test_columns_are_named_by_the_query_that_has_them(
    condition: str, expected: str, tables: Duck
) -> None:
    assert qualified(condition, tables) == expected


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("EXISTS (SELECT * FROM (SELECT 1 AS one) s WHERE one = weight AND one = t)", "named s"),
        (
            "EXISTS (SELECT u.k AS id FROM chunk_1 u JOIN (SELECT 1 AS v) r ON v = id)",
            "id in ON may be a select item",
        ),
        ("(SELECT sum(s.x)) > 1", "an aggregate of the query around it"),
        ("(SELECT max(weight + s.x) FROM chunk_1 u) > 1", "an aggregate of the query around it"),
        ("EXISTS (SELECT * FROM chunk_1 u WHERE u.k = n.rowid)", "n has no column rowid"),
    ],
)
def test_what_cannot_be_named_is_refused(condition: str, reason: str, tables: Duck) -> None:
    with pytest.raises(NotIncrementalError, match=reason):
        qualified(condition, tables)


def test_a_column_that_a_join_merges_is_the_left_one(tables: Duck) -> None:
    duck = tables
    start = "chunk_0 s JOIN (SELECT id AS k FROM names) n USING (k)"
    condition = "EXISTS (SELECT * FROM names m WHERE m.id = k)"
    expected = 'EXISTS(SELECT * FROM names AS m WHERE m.id = "s"."k")'
    assert qualified(condition, duck, start) == expected
    with pytest.raises(NotIncrementalError, match="several relations have: qualify it"):
        qualified(condition, duck, start.replace("JOIN", "FULL JOIN"))


def test_columns_of_a_relation_are_found_in_subqueries_that_do_not_hide_it() -> None:
    query = query_of(
        """SELECT s.a FROM t s WHERE EXISTS (SELECT s.b FROM t s)
            AND EXISTS (SELECT s.c FROM u WHERE u.d = s.e)""",
        DIALECT,
    )
    assert isinstance(query, exp.Select)
    assert own_aliases(query) == {"s"}
    found = columns_of(query.args["where"], frozenset({"s"}))
    assert sorted(column.name for column in found) == ["c", "e"]
