"""Partials that can be subtracted count their rows and values; other states read single rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.changing import ChangingLeaf, changing
from upstream.queries.rewriting.split_query import Leaf, State, StateKind
from upstream.queries.sql.lending import answer_once
from upstream.queries.sql.names import STEP
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from .fixture_files import split_of
from .static_tables import LENT

WINDOWS = (WindowClause(WindowKind.LANDMARK, "s"), WindowClause(WindowKind.LANDMARK, "t"))


def made_of(leaf: Leaf) -> ChangingLeaf | None:
    """Return how a leaf changes, if sums of integers can be subtracted, and others not."""

    def is_subtracted(state: State) -> bool:
        assert leaf.schema is not None
        type_ = leaf.schema.field(state.columns[0]).type
        return state.kind is StateKind.SUM and not pa.types.is_floating(type_)

    return changing(leaf, is_subtracted)


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
        ("SELECT count_if(x > 1) AS n FROM chunk_0 s", ["count(x > 1)"]),
        ("SELECT 1 AS one FROM chunk_0 s GROUP BY g", []),
    ],
)
def test_rows_are_counted_and_the_values_of_each_sum(
    sql: str, counted: list[str], tables: Duck
) -> None:
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    made = made_of(leaf)
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
    made = made_of(leaf)
    assert made is not None
    assert leaf.partial.sql("duckdb") == before
    rows = {"chunk_0": LENT}
    old = answer_once(tables, leaf.partial, sql, rows)
    new = answer_once(tables, made.leaf.partial, sql, rows)
    order = [(old.schema.names[0], "ascending")]
    assert new.select(old.schema.names).sort_by(order).equals(old.sort_by(order))
    counts = new.sort_by(order).select([made.rows, *made.values.values()]).to_pylist()
    assert [[*each.values()] for each in counts] == [[2, 2, 1], [1, 1, 1]]


def test_other_states_are_values_of_single_rows_with_numbers(tables: Duck) -> None:
    sql = (
        "SELECT g, sum(x) AS n, min(k) AS m, arg_max(k, x) FILTER (k > 0) AS a, var_pop(x) AS v,"
        " covar_pop(k, x) AS c FROM chunk_0 s WHERE x > 0 GROUP BY g"
    )
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    made = made_of(leaf)
    assert made is not None
    kept = {column for state in made.leaf.states for column in state.columns}
    subtracted = [state for state in leaf.states if {*state.columns} <= kept]
    assert len(subtracted) == 2, "the sum, and the number of pairs of the covariance"
    assert [(each.count, each.is_downwards) for each in made.rankings] == [(1, False), (1, True)]
    assert {each.kind for each in made.doubles} == {StateKind.MOMENTS, StateKind.CO_MOMENTS}
    numbered = LENT.append_column(STEP, pa.array([7, 8, 9]))
    rows = answer_once(tables, made.stepped, sql, {"chunk_0": numbered})
    assert rows[STEP].to_pylist() == [7, 8, 9]
    [least, greatest] = made.rankings
    assert rows.select(least.columns).to_pylist() == [{least.columns[0]: k} for k in (0, 1, 7)]
    value, by = (rows[name].to_pylist() for name in greatest.columns)
    assert (value, by) == ([None, 1, 7], [None, 2, 3])
    for each in made.doubles:
        y, x = rows[each.values[0]].to_pylist(), rows[each.values[-1]].to_pylist()
        assert x == [1.0, 2.0, 3.0]
        assert y == ([0.0, 1.0, 7.0] if each.kind is StateKind.CO_MOMENTS else x)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT g, bit_xor(x) AS n FROM chunk_0 s GROUP BY g",
        "SELECT g, sum(x) AS n, max(x, 2) AS m FROM chunk_0 s GROUP BY g",
        "SELECT last(x) AS n FROM chunk_0 s",
        "SELECT string_agg(g ORDER BY k) AS n FROM chunk_0 s",
        "SELECT x FROM chunk_0 s WHERE x > 1",
        "SELECT sum(s.x * t.x) AS n FROM chunk_0 s JOIN chunk_1 t ON s.k = t.k",
    ],
)
def test_a_leaf_with_a_state_that_cannot_follow_does_not_change(sql: str, tables: Duck) -> None:
    assert all(made_of(leaf) is None for leaf in split_of(sql, tables, WINDOWS).leaves)
