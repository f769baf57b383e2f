"""Joins that read groups of lasting streams."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.database.duck import Duck

from .both_ways import BothWays
from .fixture_files import LANDMARKS, split_of
from .random_steps import SCHEMAS, STEPS
from .rule_contract import RuleContract, is_bounded


class TestGroupedJoins(RuleContract):
    rule = "lasting/grouped_joins"


_LEFT = "FROM names n LEFT JOIN chunk_0 s ON n.id = s.k"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT name, s.x {_LEFT}", "it would keep single rows"),
        (f"SELECT row_number() OVER () {_LEFT}", "single rows"),
        (f"SELECT name, sum(count(*)) OVER () {_LEFT} GROUP BY 1", "a window function"),
        (f"SELECT name, count(coalesce(s.x, 0)) {_LEFT} GROUP BY 1", "cannot be computed from"),
        (f"SELECT count(*) FILTER (WHERE s.x IS NULL) {_LEFT}", "cannot be computed from groups"),
        (f"SELECT sum(s.x * n.id) {_LEFT}", "cannot be computed from groups below the join"),
        (f"SELECT DISTINCT ON (name) name, s.x {_LEFT}", "DISTINCT ON needs the rows in"),
        (f"SELECT s.x, (SELECT max(s.x)) {_LEFT} GROUP BY s.x", "an aggregate of the query around"),
        (f"SELECT stddev(s.x) {_LEFT}", "cannot be computed from groups below the join"),
        (
            "SELECT count(*) FROM names n LEFT JOIN chunk_0 s ON n.id + s.y > 3",
            "it computes with s.y, a DOUBLE, above a join",
        ),
        (
            "SELECT count(*) FROM chunk_0 s ASOF JOIN chunk_1 u ON s.t >= u.t",
            "ASOF JOIN: the rows it matches depend on all rows",
        ),
        (
            (
                "SELECT name FROM names m WHERE id IN (SELECT n.id FROM names n"
                " LEFT JOIN chunk_0 s ON n.id = s.k WHERE s.x > m.id)"
            ),
            "it refers to a query around it",
        ),
    ],
)
def test_what_needs_pairs_of_rows_is_refused(sql: str, reason: str, tables: Duck) -> None:
    parts = split_of(sql, tables, LANDMARKS)
    assert not is_bounded(parts)
    assert all(reason in leaf.reason for leaf in parts.leaves), parts.leaves[0].reason


def test_the_reason_says_to_group_the_stream(tables: Duck) -> None:
    [leaf] = split_of(f"SELECT name, s.x {_LEFT}", tables, LANDMARKS).leaves
    assert leaf.reason.endswith("group the stream in a subquery first")


def test_a_join_with_a_table_alone_is_evaluated_row_by_row(tables: Duck) -> None:
    sql = "SELECT count(*) FROM chunk_0 s LEFT JOIN names n ON n.id = s.k"
    [leaf] = split_of(sql, tables, LANDMARKS).leaves
    assert leaf.partial.find_all is not None
    assert "names" in leaf.partial.sql()


def test_a_count_of_pairs_is_a_product_of_counts(tables: Duck) -> None:
    sql = "SELECT count(*) AS n, sum(s.x) AS x FROM chunk_0 s JOIN chunk_1 u ON s.k = u.k"
    ways = BothWays(sql, SCHEMAS, tables, LANDMARKS)
    rows = [{"k": 1, "x": 5}, {"k": 1, "x": 7}, {"k": None, "x": 100}]
    step = pa.Table.from_pylist(rows, schema=SCHEMAS["chunk_0"])
    assert ways.in_parts({"chunk_0": [step], "chunk_1": [step, step]}) == [[8, 48]]
    ways.close()


# Random joins

_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
_CONDITIONS = (
    *("s.k = o.k", "s.k = o.k AND s.b", "s.k < o.k", "s.g = o.g AND o.b", "s.x > o.x OR s.b"),
    *("true", "s.k IS NOT DISTINCT FROM o.k"),
)
_OTHERS = (
    "chunk_1",
    "(SELECT id AS k, id + 1 AS x, name AS g, weight > 1 AS b FROM names)",
    "(SELECT k, g, bool_or(b) AS b, max(x) AS x FROM chunk_1 u GROUP BY k, g)",
)
_AGGREGATES = (
    *("count(*)", "count(s.x)", "sum(s.x)", "avg(s.x)", "min(s.y)", "max(s.g)", "sum(s.x + s.k)"),
    *("count(o.x)", "sum(o.x)", "avg(o.x)", "min(o.x)", "count(DISTINCT s.x)", "sum(DISTINCT o.x)"),
)


@st.composite
def joins(draw: st.DrawFn) -> str:
    """Return a query that aggregates a join of a stream with a stream, groups or a table."""

    def one_of(*texts: str) -> str:
        return draw(st.sampled_from(texts))

    chosen = draw(st.lists(st.sampled_from(_AGGREGATES), min_size=1, max_size=3, unique=True))
    items = ", ".join(f"{text} AS a{i}" for i, text in enumerate(chosen))
    sides = draw(st.permutations(["chunk_0 s", f"{one_of(*_OTHERS)} o"]))
    start = f"FROM {sides[0]} {one_of(*_JOINS)} {sides[1]} ON {one_of(*_CONDITIONS)}"
    where = one_of("", "WHERE s.x IS NULL OR o.x > 0", "WHERE s.b", "WHERE o.g = 'a'")
    group = one_of("", "s.g", "o.k", "s.b, o.b")
    keys, by = (f"{group}, ", f"GROUP BY {group}") if group else ("", "")
    return f"SELECT {keys}{items} {start} {where} {by}"


@given(joins(), STEPS)
def test_any_join_gives_in_parts_what_it_gives_whole(
    tables: Duck, sql: str, steps: dict[str, list[pa.Table]]
) -> None:
    ways = BothWays(sql, SCHEMAS, tables, LANDMARKS)
    try:
        assert is_bounded(ways.split), [leaf.reason for leaf in ways.split.leaves]
        ways.check(steps)
    finally:
        ways.close()
