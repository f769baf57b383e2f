"""Leaves that read the same rows and group them alike are one leaf with columns for each."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.shared_partial import LeafInCommon, in_common, runs, shared
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.functions import functions_of
from upstream.queries.sql.lending import answer_once
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from .fixture_files import split_of
from .static_tables import LENT

WINDOWS = (WindowClause(WindowKind.HOP, "s", size=4, slide=2),)


def leaf_of(sql: str, tables: Duck) -> LeafInCommon | None:
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    return in_common(leaf, functions_of(tables))


def leaves_of(tables: Duck, *texts: str) -> list[LeafInCommon]:
    leaves = [leaf_of(text, tables) for text in texts]
    assert None not in leaves
    return [leaf for leaf in leaves if leaf is not None]


def written(tables: Duck, *texts: str, apart: bool = False) -> str:
    partial = shared(leaves_of(tables, *texts), apart=apart).leaf.partial
    return partial.sql("duckdb").replace('"', "").replace("s.", "")


def test_a_condition_of_one_leaf_becomes_a_case_of_its_columns(tables: Duck) -> None:
    text = written(
        tables,
        "SELECT g, sum(x) AS n FROM chunk_0 s WHERE x > 1 GROUP BY g",
        "SELECT g, count(*) AS n FROM chunk_0 s GROUP BY g",
    )
    assert text == (
        "SELECT g AS __g0, COUNT(CASE WHEN x > 1 THEN 1 END) AS __c0, "
        "SUM(CASE WHEN x > 1 THEN x END) AS __c1, COUNT(*) AS __c2 FROM chunk_0 AS s GROUP BY 1"
    )


def test_a_condition_of_all_leaves_stays_a_condition(tables: Duck) -> None:
    text = written(
        tables,
        "SELECT sum(x) AS n FROM chunk_0 s WHERE x > 1 AND k < 5",
        "SELECT max(x) AS n FROM chunk_0 s WHERE k < 5",
    )
    assert text.endswith("MAX(x) AS __c3 FROM chunk_0 AS s WHERE k < 5")
    assert "SUM(CASE WHEN x > 1 THEN x END)" in text


def test_equal_columns_of_several_leaves_are_one_unless_leaves_are_apart(tables: Duck) -> None:
    texts = [
        "SELECT g, sum(x) AS n FROM chunk_0 s WHERE x > 1 GROUP BY g",
        "SELECT g, sum(x) AS n, count(*) AS m FROM chunk_0 s WHERE x > 1 GROUP BY g",
    ]
    assert written(tables, *texts).count("SUM(x)") == 1
    assert written(tables, *texts, apart=True).count("SUM(x)") == 2


def test_a_filter_is_part_of_the_condition(tables: Duck) -> None:
    text = written(
        tables,
        "SELECT sum(x) FILTER (x > 3) AS n FROM chunk_0 s WHERE k = 1",
        "SELECT count(*) AS n FROM chunk_0 s",
    )
    assert "SUM(CASE WHEN k = 1 AND x > 3 THEN x END)" in text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x, k FROM chunk_0 s",
        "SELECT g, list(x) AS n FROM chunk_0 s GROUP BY g",
        "SELECT g, arg_max(k, x) AS n FROM chunk_0 s GROUP BY g",
        "SELECT g, median(x) AS n FROM chunk_0 s GROUP BY g",
        "SELECT g, bool_and(x > 1) AS n FROM chunk_0 s GROUP BY g",
        "SELECT x FROM chunk_0 s ORDER BY x LIMIT 3",
        "SELECT sum(s.x) AS n FROM chunk_0 s JOIN (VALUES (1)) t(k) ON s.k = t.k",
        "SELECT sum(x) AS n FROM chunk_0 s WHERE k IN (SELECT i FROM range(3) t(i))",
    ],
)
def test_a_leaf_that_does_more_than_aggregate_rows_of_one_stream_is_not_shared(
    sql: str, tables: Duck
) -> None:
    assert leaf_of(sql, tables) is None


def test_leaves_are_of_one_family_if_they_read_and_group_alike(tables: Duck) -> None:
    one, other, third = leaves_of(
        tables,
        "SELECT g, sum(x) AS n FROM chunk_0 s WHERE x > 1 GROUP BY g",
        "SELECT max(x) AS n FROM chunk_0 s GROUP BY g",
        "SELECT sum(x) AS n FROM chunk_0 s GROUP BY k",
    )
    assert one.family == other.family != third.family


@pytest.mark.parametrize(
    "aggregate",
    [
        *(
            "sum(x)",
            "count(x)",
            "count(*)",
            "min(x)",
            "max(x)",
            "avg(x)",
            "stddev(x)",
            "corr(x, k)",
        ),
        *("count_if(x > 1)", "count(DISTINCT x)", "sum(x) FILTER (k > 1)", "covar_pop(x, k)"),
    ],
)
def test_each_leaf_has_the_values_that_it_has_alone(aggregate: str, tables: Duck) -> None:
    sql = f"SELECT g, {aggregate} AS n FROM chunk_0 s WHERE x > 1 GROUP BY g"
    [leaf] = leaves_of(tables, sql)
    assert runs(leaf, Trial(tables, {"chunk_0": LENT.schema}))
    of_all = shared([leaf], common=frozenset())
    [own] = of_all.owned
    rows = {"chunk_0": LENT}
    alone = answer_once(tables, leaf.leaf.partial, sql, rows)
    found = answer_once(tables, of_all.leaf.partial, sql, rows)
    groups = leaf.leaf.groups
    assert groups is not None
    of_leaf = [each for each in found.to_pylist() if each[own.rows]]
    columns = {**{name: name for name in groups}, **own.names}
    renamed = [{name: each[columns[name]] for name in alone.schema.names} for each in of_leaf]
    assert sorted(map(repr, renamed)) == sorted(map(repr, alone.to_pylist()))
