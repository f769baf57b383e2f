"""Functions on trees."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from tests.queries.parsed import select_of
from upstream.database.duck import Duck
from upstream.queries.sql import trees


@pytest.mark.parametrize(
    ("name", "index"),
    [("chunk_0", 0), ("chunk_12", 12), ("chunk_x", None), ("trades", None), ("s.chunk_1", None)],
)
def test_a_chunk_is_known_by_its_name(name: str, index: int | None) -> None:
    assert trees.chunk_index(exp.to_table(name)) == index


def test_chunks_are_found_wherever_they_are_read() -> None:
    query = select_of("SELECT 1 FROM chunk_2 WHERE x IN (SELECT x FROM chunk_0, chunk_2 AS b)")
    assert trees.chunks_in(query) == (0, 2)
    assert len(trees.chunk_tables(query)) == 3


def test_own_nodes_are_without_those_of_queries_inside() -> None:
    query = select_of("SELECT a + (SELECT max(b) FROM t)")
    names = [n.name for n in trees.own_nodes(query.expressions[0]) if isinstance(n, exp.Column)]
    assert names == ["a"]
    assert [q.sql() for q in trees.nested_queries(query.expressions[0])] == [
        "(SELECT MAX(b) FROM t)"
    ]


def test_replacing_goes_from_the_top_down_and_not_into_queries() -> None:
    def change(node: exp.Expr) -> exp.Expr | None:
        return exp.column("y") if isinstance(node, exp.Column) and node.name == "x" else None

    tree = select_of("SELECT f(x, (SELECT x FROM t)) + x").expressions[0]
    assert trees.replaced(tree, change).sql() == "F(y, (SELECT x FROM t)) + y"
    assert tree.sql() == "F(x, (SELECT x FROM t)) + x"


def test_a_prefix_is_one_that_no_table_has() -> None:
    assert trees.merged_prefix(select_of("SELECT 1 FROM a, b AS merged")) == "merged_"
    assert trees.merged_prefix(select_of("SELECT 1 FROM a AS merged_1")) == "_merged_"


@pytest.mark.parametrize(
    ("numbers", "count"),
    [("(2), (3), (NULL)", "5"), ("(NULL::BIGINT)", "0"), ("(7::HUGEINT)", "7")],
)
def test_a_summed_count_is_a_bigint_and_never_null(numbers: str, count: str, duck: Duck) -> None:
    query = exp.select(trees.summed_count(exp.column("n"))).sql("duckdb")
    [[value, type_name]] = duck.rows(
        f"SELECT c::VARCHAR, typeof(c) FROM ({query} FROM (VALUES {numbers}) AS t(n)) AS q(c)"
    )
    assert (value, type_name) == (count, "BIGINT")


def test_conjuncts_are_what_must_all_hold() -> None:
    where = select_of("SELECT 1 WHERE a AND (b AND (c OR d))").args["where"]
    assert [part.sql() for part in trees.conjuncts(where.this)] == ["a", "b", "c OR d"]
    assert trees.conjuncts(None) == []


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        ("x", "NOT x IS NULL"),
        ("f(x)", "NOT F(x) IS NULL"),
        ("x IS NOT NULL", "NOT (NOT x IS NULL) IS NULL"),
        ("a AND b", "NOT (a AND b) IS NULL"),
        ("a < b", "NOT (a < b) IS NULL"),
    ],
)
def test_what_is_known_is_in_brackets_where_its_operators_bind_loosely(
    value: str, condition: str
) -> None:
    tree = trees.is_known(parse_one(value, dialect="duckdb"))
    assert tree.sql("duckdb") == condition


@pytest.mark.parametrize(
    ("item", "expected"), [("*", True), ("t.*", True), ("count(*)", False), ("a", False)]
)
def test_a_star_is_all_columns(item: str, expected: bool) -> None:
    assert trees.is_star(select_of(f"SELECT {item} FROM t").selects[0]) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WITH t AS (SELECT 1) SELECT * FROM t", True),
        ("WITH t AS (SELECT 1) SELECT * FROM (SELECT * FROM t)", True),
        ("WITH a AS (SELECT 1), b AS (SELECT * FROM t), t AS (SELECT 2) SELECT 1 FROM a", False),
        ("WITH t AS (SELECT 1), b AS (SELECT * FROM t) SELECT 1 FROM b", True),
        ("WITH t AS (SELECT * FROM t) SELECT 1", False),
        ("WITH RECURSIVE t AS (SELECT 1 UNION SELECT * FROM t) SELECT 1", True),
    ],
)
def test_a_common_table_is_seen_behind_it_only(text: str, expected: bool) -> None:
    [table] = [each for each in select_of(text).find_all(exp.Table) if each.name == "t"][:1]
    assert (trees.common_table(table) is not None) is expected
