"""Texts are compared as DuckDB reads them."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.errors import QuerySyntaxError
from upstream.queries.sql.same_reading import Difference, difference


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("select a from t -- all", 'SELECT "a"\nFROM t'),
        ("SELECT a::int8, b::text", "SELECT CAST(a AS BIGINT), CAST(b AS VARCHAR)"),
        ("SELECT a IS NOT NULL", "SELECT NOT a IS NULL"),
        ("SELECT a IS NOT TRUE", "SELECT NOT a IS TRUE"),
        ("SELECT a NOT IN (1)", "SELECT NOT a IN (1)"),
        ("SELECT [1, 2], 1_000", "SELECT ARRAY[1, 2], 1000"),
        ("SELECT pow(a, 2)", "SELECT power(a, 2)"),
        ("SELECT a + 1", 'SELECT "+"(a, 1)'),
    ],
)
def test_texts_that_differ_only_in_notation_are_read_alike(
    one: str, other: str, duck: Duck
) -> None:
    assert difference(one, other, duck) is None
    assert difference(other, one, duck) is None


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        ("SELECT 1, 'ü', instr(a, 'b', 1, 2)", "SELECT 1, 'ü', instr(a, 'b')", "instr"),
        ("SELECT a, b COLLATE nocase", "SELECT a, b", "b COLL"),
        ("SELECT a <=> b", "SELECT a IS NOT DISTINCT FROM b", "a <=>"),
        ("SELECT a -> 'x' IS NULL", "SELECT (a -> 'x') IS NULL", "a ->"),
        ("SELECT count(*) FILTER (WHERE a)", "SELECT count(*)", "count"),
        ("SELECT f(x -> x)", "SELECT f(lambda x: x)", "x ->"),
        ("SELECT a::INT", "SELECT a::BIGINT", "INT"),
        ("SELECT a, .5", "SELECT a, 0.5", ".5"),
        ("SELECT a FROM t ORDER BY a NULLS LAST", "SELECT a FROM t ORDER BY a", "SELECT"),
        ("SELECT NULL IS NULL", "SELECT NOT NULL IS NULL", "IS NULL"),
    ],
)
def test_what_means_something_else_differs_where_it_does(
    one: str, other: str, place: str, duck: Duck
) -> None:
    found = difference(one, other, duck)
    assert found is not None
    assert one[found.place or 0 :].startswith(place)


def test_what_duckdb_cannot_read_is_an_error_where_it_is(duck: Duck) -> None:
    with pytest.raises(QuerySyntaxError, match='syntax error at or near "b"') as caught:
        difference("SELECT 'ü', a DIV b", "SELECT 1", duck)
    assert caught.value.column == len("SELECT 'ü', a DIV ") + 1


def test_what_duckdb_cannot_read_is_an_error_though_both_texts_are_alike(duck: Duck) -> None:
    with pytest.raises(QuerySyntaxError):
        difference("SELECT a DIV b", "SELECT a DIV b", duck)


def test_nothing_is_known_of_a_query_that_is_not_a_single_select(duck: Duck) -> None:
    text = "SELECT * FROM (PIVOT t ON a USING count(*))"
    assert difference(text, text, duck) == Difference(None)


def test_what_duckdb_cannot_read_of_what_was_written_is_a_difference(duck: Duck) -> None:
    found = difference("SELECT 1", "SELECT FROM", duck)
    assert found is not None
    assert found.place is None
