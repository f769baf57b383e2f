"""Explanations for people."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.explain import (
    calls_in,
    explain,
    over_streams,
    parts,
    spoken,
    state_names,
    whole,
)
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.functions import Functions, functions_of
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from ..parsed import query_of, select_of, value_of
from .fixture_files import LANDMARKS, split_of

WINDOWS = (WindowClause(WindowKind.TUMBLE, "trades"), WindowClause(WindowKind.TUMBLE, "quotes"))


def _explained(sql: str, tables: Duck) -> list[str]:
    query = split_of(sql, tables, WINDOWS)
    return explain(query, ["merged" for _ in query.leaves]).splitlines()


@pytest.mark.parametrize(
    ("sql", "lines"),
    [
        (
            "SELECT g, sum(y) AS s, count(*) FROM chunk_0 trades GROUP BY g",
            ["incrementally: sum(y), count(*) by g, from trades", "  merged"],
        ),
        (
            "SELECT avg(y) + 1 AS a FROM chunk_0 t",
            [
                "incrementally: avg(y), from t",
                "  merged",
                "for each window: the rest of the query, over these results",
            ],
        ),
        (
            "SELECT sum(s) FROM (SELECT max(y) AS s FROM chunk_0 t GROUP BY g)",
            [
                "incrementally: max(y) by g, from t",
                "  merged",
                "for each window: the rest of the query, over these results",
            ],
        ),
        (
            "SELECT g, count(*) FROM chunk_0 t GROUP BY g HAVING count(*) > 1",
            [
                "incrementally: count(*) by g, from t",
                "  merged",
                "for each window: the rest of the query, over these results",
            ],
        ),
        (
            "SELECT DISTINCT g FROM chunk_0 t",
            ["incrementally: the distinct rows, from t", "  merged"],
        ),
        ("SELECT x FROM chunk_0 t", ["incrementally: rows as they arrive, from t", "  merged"]),
        (
            "SELECT count(*) FROM chunk_0 a JOIN chunk_1 b USING (g)",
            ["incrementally: count(*), from a joined with b", "  merged"],
        ),
        (
            "SELECT histogram(g) FROM chunk_0 t",
            [
                "recomputed for each window, from counts: histogram(g), from t",
                "  equal rows are kept once and counted incrementally: merged",
            ],
        ),
        (
            "SELECT median(x) FROM chunk_0 t",
            [
                "recomputed for each window: median(x), from t",
                (
                    "  rows are kept; median(x) needs every value, "
                    "so it is recomputed for each window"
                ),
            ],
        ),
        (
            "SELECT median(x), string_agg(k), sum(y), max(y) FROM chunk_0 t",
            [
                "recomputed for each window: median(x), string_agg(k), sum(y), max(y), from t",
                (
                    "  rows are kept; median(x) and string_agg(k) need every value, "
                    "so they, sum(y) and max(y) are recomputed for each window"
                ),
            ],
        ),
        (
            "SELECT rank() OVER (ORDER BY x) AS r FROM chunk_0 t",
            [
                "recomputed for each window: rank() OVER (ORDER BY x), from t",
                (
                    "  rows are kept; a window function needs all rows, so all of it is "
                    "recomputed for each window"
                ),
            ],
        ),
        (
            "SELECT a.x FROM chunk_0 a LEFT JOIN chunk_1 b USING (g)",
            [
                "recomputed for each window: the whole query, from a and b",
                (
                    "  rows are kept; LEFT JOIN: whether a row has no match depends on all rows, "
                    "so the query is recomputed for each window"
                ),
            ],
        ),
    ],
)
def test_explain_says_what_is_incremental_and_what_is_not_and_why(
    tables: Duck, sql: str, lines: list[str]
) -> None:
    assert _explained(sql, tables) == lines


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        (
            "SELECT x FROM chunk_0 t ORDER BY x LIMIT 3",
            "  only the first rows of each chunk are kept, and sorted for each window",
        ),
        ("SELECT x FROM chunk_0 t ORDER BY x", "  they are sorted for each window"),
    ],
)
def test_explain_says_what_is_sorted(tables: Duck, sql: str, line: str) -> None:
    assert line in _explained(sql, tables)


def test_explain_says_which_conditions_come_later(tables: Duck) -> None:
    sql = "SELECT g, count(*) FROM chunk_0 s WHERE k IN (SELECT k FROM chunk_1 u) GROUP BY g"
    query = split_of(sql, tables, LANDMARKS)
    assert explain(query, ["merged", "merged"]).splitlines() == [
        "incrementally: the distinct rows, from u",
        "  merged",
        "incrementally: count(*) by g, from s",
        "  merged",
        "  conditions that depend on other parts of the query are checked for each window",
        "for each window: the rest of the query, over these results",
    ]


def test_each_leaf_has_its_rule_partial_and_merge_in_sql(tables: Duck) -> None:
    query = split_of("SELECT g, -sum(y) AS less FROM chunk_0 s GROUP BY g", tables, WINDOWS)
    assert parts(query).splitlines() == [
        "merged_0 from trades: synchronous replication",
        '  partial: SELECT "s"."g" AS "__g0", SUM("s"."y") AS "__s0" FROM trades AS s GROUP BY 1',
        '  merge: __s0 = SUM("__s0")',
        'finish: SELECT "__g0" AS "g", -"__s0" AS "less" FROM merged_0',
    ]
    assert whole(query) == "whole: SELECT g, -SUM(y) AS less FROM trades AS s GROUP BY g"


def test_explain_names_no_finish_where_none_has_to_run(tables: Duck) -> None:
    lines = parts(
        split_of("SELECT g, sum(x) AS total FROM chunk_0 s GROUP BY g", tables, WINDOWS)
    ).splitlines()
    assert lines[-1] == "finish: none, the result is merged_0: __g0 as g, __s0 as total"


@pytest.fixture(scope="module")
def functions(tables: Duck) -> Functions:
    return functions_of(tables)


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
    assert spoken(value_of(text, DIALECT)) == text


def test_bounds_are_called_as_users_call_them() -> None:
    text = "sum(CASE WHEN t > (SELECT window_end FROM bounds_0) THEN n END)"
    assert spoken(value_of(text, DIALECT)) == "sum(CASE WHEN t > window_end THEN n END)"


def test_relations_are_named_only_where_there_are_several() -> None:
    tree = value_of('median("t"."price")', DIALECT)
    assert spoken(tree) == "median(price)"
    assert spoken(tree, qualified=True) == "median(t.price)"


def test_only_the_outermost_of_nested_aggregates_are_found(functions: Functions) -> None:
    text = "SELECT sum(a) FILTER (WHERE b) / count(*), sum(sum(c)) OVER (), abs(d), (SELECT max(e))"
    select = select_of(text, DIALECT)
    found = [spoken(call) for call in calls_in(select.expressions, functions)]
    assert found == ["sum(a) FILTER (WHERE b)", "count(*)", "sum(sum(c)) OVER ()"]


def test_chunks_become_the_streams_that_they_are_of() -> None:
    query = query_of(
        "SELECT 1 FROM chunk_0 AS trades JOIN chunk_1 AS q USING (k) JOIN __side AS names USING (k)"
        " JOIN chunk_2 AS c USING (k)"
    )
    windows = (WindowClause(WindowKind.STREAM, "trades"), WindowClause(WindowKind.STREAM, "quotes"))
    assert over_streams(query, windows).sql("duckdb") == (
        "SELECT 1 FROM trades JOIN quotes AS q USING (k) JOIN names USING (k)"
        " JOIN chunk_2 AS c USING (k)"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT k, max(x) AS most FROM chunk_0 GROUP BY k",
            {"__g0": "k", "__s0": "max(x)"},
        ),
        ("SELECT avg(x) AS mean FROM chunk_0", {}),
        (
            "SELECT m, n FROM (SELECT max(x) AS m FROM chunk_0), (SELECT min(x) AS n FROM chunk_1)",
            {},
        ),
    ],
    ids=["as written", "states that are not in the query", "one name for two things"],
)
def test_a_column_has_the_words_of_the_query(
    text: str, expected: dict[str, str], tables: Duck
) -> None:
    assert state_names(split_of(text, tables, WINDOWS)) == expected
