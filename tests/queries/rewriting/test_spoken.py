"""Expressions are said as users write them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlglot import exp, parse_one

from upstream.database.duck import Duck
from upstream.queries.rewriting.spoken import calls_in, over_streams, spoken
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.functions import Functions, functions_of
from upstream.queries.sql.window_clause import WindowClause, WindowKind


@pytest.fixture(scope="module")
def functions() -> Iterator[Functions]:
    duck = Duck()
    yield functions_of(duck)
    duck.close()


def tree_of(text: str) -> exp.Expr:
    tree = parse_one(text, dialect=DIALECT)
    assert isinstance(tree, exp.Expr)
    return tree


@pytest.mark.parametrize(
    "text",
    [
        "string_agg(symbol)",
        "string_agg(symbol, ';')",
        "string_agg(symbol ORDER BY price)",
        "mode(symbol)",
        "quantile_cont(price, 0.5)",
        "median(price)",
        "count(*)",
        "count(DISTINCT price)",
        "max(price) FILTER (WHERE size > 3)",
        'sum("Odd name")',
        "any_value(price)",
    ],
)
def test_functions_keep_the_names_that_users_give_them(text: str) -> None:
    assert spoken(tree_of(text)) == text


def test_bounds_are_called_as_users_call_them() -> None:
    text = "sum(CASE WHEN t > (SELECT window_end FROM bounds_0) THEN n END)"
    assert spoken(tree_of(text)) == "sum(CASE WHEN t > window_end THEN n END)"


def test_relations_are_named_only_where_there_are_several() -> None:
    tree = tree_of('median("t"."price")')
    assert spoken(tree) == "median(price)"
    assert spoken(tree, qualified=True) == "median(t.price)"


def test_of_the_aggregates_in_one_another_the_outermost_are_found(functions: Functions) -> None:
    text = "SELECT sum(a) FILTER (WHERE b) / count(*), sum(sum(c)) OVER (), abs(d), (SELECT max(e))"
    select = tree_of(text)
    found = [spoken(call) for call in calls_in(select.expressions, functions)]
    assert found == ["sum(a) FILTER (WHERE b)", "count(*)", "sum(sum(c)) OVER ()"]


def test_chunks_become_the_streams_that_they_are_of() -> None:
    query = tree_of(
        "SELECT 1 FROM chunk_0 AS trades JOIN chunk_1 AS q USING (k) JOIN __side AS names USING (k)"
        " JOIN chunk_2 AS c USING (k)"
    )
    assert isinstance(query, exp.Query)
    windows = (WindowClause(WindowKind.STREAM, "trades"), WindowClause(WindowKind.STREAM, "quotes"))
    assert over_streams(query, windows).sql("duckdb") == (
        "SELECT 1 FROM trades JOIN quotes AS q USING (k) JOIN names USING (k)"
        " JOIN chunk_2 AS c USING (k)"
    )
