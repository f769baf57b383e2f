"""Partials that can be subtracted count the rows and the values that they are made of."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.changing import changing
from upstream.queries.sql.lending import answer_once
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from .fixture_files import split_of
from .static_tables import LENT

WINDOWS = (WindowClause(WindowKind.LANDMARK, "s"), WindowClause(WindowKind.LANDMARK, "t"))


@pytest.mark.parametrize(
    ("sql", "counted"),
    [
        ("SELECT g, sum(x) AS n FROM chunk_0 s GROUP BY g", ["count(x)"]),
        ("SELECT g, count(*) AS n FROM chunk_0 s GROUP BY g", []),
        ("SELECT g, count(x) AS n, count() AS m FROM chunk_0 s GROUP BY g", []),
        ("SELECT sum(x) AS a, sum(k) AS b FROM chunk_0 s", ["count(x)", "count(k)"]),
        (
            "SELECT sum(x) FILTER (x > 1) AS a FROM chunk_0 s",
            ["count(x) FILTER(WHERE x > 1)"],
        ),
        ("SELECT 1 AS one FROM chunk_0 s GROUP BY g", []),
    ],
)
def test_rows_are_counted_and_the_values_of_each_sum(
    sql: str, counted: list[str], tables: Duck
) -> None:
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    made = changing(leaf)
    assert made is not None
    items = {item.alias: item.unalias().sql("duckdb") for item in made.leaf.partial.selects}
    assert items[made.rows].lower() == "count(*)"
    found = [items[name].replace('"', "").replace("s.", "") for name in made.values.values()]
    assert [text.lower() for text in found] == [text.lower() for text in counted]
    names = [column for state in made.leaf.states for column in state.columns]
    assert names[len(leaf.states) :] == [made.rows, *made.values.values()]


def test_the_other_columns_are_those_of_the_leaf(tables: Duck) -> None:
    sql = "SELECT g, sum(x) AS n, sum(k) FILTER (x > 1) AS m FROM chunk_0 s GROUP BY g"
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    before = leaf.partial.sql("duckdb")
    made = changing(leaf)
    assert made is not None
    assert leaf.partial.sql("duckdb") == before
    rows = {"chunk_0": LENT}
    old = answer_once(tables, leaf.partial, sql, rows)
    new = answer_once(tables, made.leaf.partial, sql, rows)
    order = [(old.schema.names[0], "ascending")]
    assert new.select(old.schema.names).sort_by(order).equals(old.sort_by(order))
    counts = new.sort_by(order).select([made.rows, *made.values.values()]).to_pylist()
    assert [[*each.values()] for each in counts] == [[2, 2, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT g, max(x) AS n FROM chunk_0 s GROUP BY g",
        "SELECT g, sum(x) AS n, min(x) AS m FROM chunk_0 s GROUP BY g",
        "SELECT stddev(x) AS n FROM chunk_0 s",
        "SELECT string_agg(g ORDER BY k) AS n FROM chunk_0 s",
        "SELECT x FROM chunk_0 s WHERE x > 1",
        "SELECT sum(s.x * t.x) AS n FROM chunk_0 s JOIN chunk_1 t ON s.k = t.k",
    ],
)
def test_a_leaf_without_an_inverse_does_not_change(sql: str, tables: Duck) -> None:
    assert all(changing(leaf) is None for leaf in split_of(sql, tables, WINDOWS).leaves)
