"""Conditions over lasting streams that are checked in the finish."""

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


class TestLateConditions(RuleContract):
    rule = "lasting/late_conditions"


KEEPS_ROWS = "selects single rows: group them by"
OUTSIDE = "only in conditions of WHERE or HAVING"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT x FROM chunk_0 s WHERE k IN (SELECT k FROM chunk_1 u)", KEEPS_ROWS),
        ("SELECT x FROM chunk_0 s WHERE k IN (SELECT k FROM chunk_1 u) ORDER BY x", KEEPS_ROWS),
        ("SELECT name, (SELECT x FROM chunk_0 s WHERE s.k = id) AS v FROM names", KEEPS_ROWS),
        (
            "SELECT count(*) FROM (SELECT k FROM chunk_0 s WHERE x IN (SELECT x FROM chunk_1 u)) r",
            KEEPS_ROWS,
        ),
        ("SELECT name, (SELECT max(x + id) FROM chunk_0 s) AS v FROM names", OUTSIDE),
        (
            (
                "SELECT name FROM names n WHERE weight < (SELECT count(*) FROM chunk_0 s"
                " WHERE s.k > 0 GROUP BY s.k > n.id)"
            ),
            OUTSIDE,
        ),
        (
            (
                "SELECT name FROM names n WHERE EXISTS (SELECT * FROM chunk_0 s"
                " LEFT JOIN names m ON m.id = s.k AND m.id > n.id)"
            ),
            OUTSIDE,
        ),
        (
            "SELECT name FROM names x WHERE EXISTS (SELECT * FROM chunk_0 x WHERE x.k = id)",
            "both read a relation named x: give them different names",
        ),
        (
            (
                "SELECT count(*) FROM chunk_0 s WHERE EXISTS (SELECT * FROM chunk_1 u"
                " WHERE u.y + s.y > 3)"
            ),
            'a condition computes with "u"."y", a DOUBLE',
        ),
        (
            "SELECT sum(CASE WHEN x > (SELECT avg(x) FROM chunk_1 u) THEN 1 END) FROM chunk_0 s",
            "an aggregate depends on a subquery over a stream",
        ),
        (
            "SELECT x, (SELECT sum(s.x)) AS v FROM chunk_0 s GROUP BY x",
            "a subquery contains an aggregate of the query around it",
        ),
        (
            "SELECT string_agg(g) FROM chunk_0 s WHERE k IN (SELECT k FROM chunk_1 u)",
            "string_agg(g) needs every value",
        ),
        (
            "SELECT arg_max(x, t) FROM chunk_0 s WHERE k IN (SELECT k FROM chunk_1 u)",
            "an aggregate needs the rows in their order",
        ),
        (
            (
                "SELECT g, (SELECT max(x) FROM chunk_1 u WHERE u.g = s.g AND u.x < max(s.x)) AS m"
                " FROM chunk_0 s GROUP BY g"
            ),
            "a subquery contains an aggregate of the query around it",
        ),
    ],
)
def test_what_is_not_split_exactly_is_refused_with_a_reason(
    sql: str, reason: str, tables: Duck
) -> None:
    parts = split_of(sql, tables, LANDMARKS)
    assert not is_bounded(parts)
    assert all(reason in leaf.reason for leaf in parts.leaves)


def test_equal_rows_are_counted_where_only_tables_are_asked(tables: Duck) -> None:
    sql = "SELECT median(day) AS m FROM chunk_0 s WHERE k IN (SELECT id FROM names WHERE id = s.k)"
    parts = split_of(sql, tables, LANDMARKS)
    assert is_bounded(parts)
    assert [leaf.rule for leaf in parts.leaves] == ["counted rows"]


def test_over_sliding_windows_rows_are_kept_as_before(tables: Duck) -> None:
    sql = "SELECT count(*) FROM chunk_0 s WHERE k IN (SELECT k FROM chunk_1 u)"
    assert [leaf.rule for leaf in split_of(sql, tables).leaves] == ["distinct rows", "kept rows"]


def test_equal_values_that_differ_are_told_apart(tables: Duck) -> None:
    # The two zeros are equal, but their texts are not. So rows are grouped by texts.
    sql = """
        SELECT count(*) FROM chunk_0 s WHERE EXISTS (
            SELECT * FROM chunk_1 u WHERE CAST(u.z AS VARCHAR) = CAST(s.z AS VARCHAR))"""
    ways = BothWays(sql, SCHEMAS, tables, LANDMARKS)
    zeros = [pa.Table.from_pylist([{"z": z}], schema=SCHEMAS["chunk_0"]) for z in (0.0, -0.0)]
    for zero in zeros:
        assert ways.in_parts({"chunk_0": zeros, "chunk_1": [zero]}) == [[1]]
    ways.close()


# Random conditions

_VALUES = ("s.k", "s.x", "s.x + s.k", "coalesce(s.k, 0)")
_ITEMS = ("k", "x", "k - 1")
_CORRELATIONS = (
    *("true", "u.b", "u.g = s.g", "u.k = s.k", "u.k <> s.k", "u.x < s.x", "u.x + s.k > 1"),
    *("u.g IS NOT DISTINCT FROM s.g", "(u.k = s.k OR u.b)", "u.g = s.g AND u.x >= s.x AND u.b"),
)
_AGGREGATES = (
    *("count(*)", "sum(s.x)", "avg(s.y)", "min(s.d)", "max(s.day)", "count(s.x)"),
    *("count(DISTINCT s.x)", "count(*) FILTER (WHERE s.b)", "sum(s.x) FILTER (WHERE s.x > 0)"),
    *("var_pop(s.x)", "bool_or(s.b)"),
)


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """Return a condition on rows of `s` that depends on the rows of `chunk_1`."""

    def one_of(*texts: str) -> str:
        return draw(st.sampled_from(texts))

    where = f"FROM chunk_1 u WHERE {one_of(*_CORRELATIONS)}"
    value, item = one_of(*_VALUES), f"u.{one_of(*_ITEMS)}"
    aggregate = one_of("min", "max", "avg", "count", "sum")
    condition = one_of(
        f"{value} IN (SELECT {item} {where})",
        f"{value} NOT IN (SELECT {item} {where})",
        f"({value}, s.g) IN (SELECT {item}, u.g FROM chunk_1 u)",
        f"EXISTS (SELECT * {where})",
        f"NOT EXISTS (SELECT 1 {where})",
        f"{value} = ANY (SELECT {item} {where})",
        f"{value} > ALL (SELECT {item} {where})",
        f"{value} <= (SELECT {aggregate}({item}) {where})",
        f"(SELECT count(*) FILTER (WHERE u.b) {where}) > 1",
        f"{value} IN (SELECT {item} {where} GROUP BY ALL HAVING count(*) > 1)",
    )
    return one_of(condition, f"NOT ({condition})", f"({condition} OR s.b)", f"{condition} AND s.b")


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Return a query with one or two late conditions, grouped or not, over a stream or a table."""
    condition = " AND ".join(draw(st.lists(conditions(), min_size=1, max_size=2)))
    start = draw(st.sampled_from(("chunk_0 s", "chunk_0 s JOIN names n ON s.k = n.id")))
    if draw(st.booleans()) and draw(st.booleans()):
        rows = "(SELECT id AS k, id + 1 AS x, name AS g, weight > 1 AS b FROM names) s"
        return f"SELECT s.g, s.x FROM {rows} WHERE {condition}"
    chosen = draw(st.lists(st.sampled_from(_AGGREGATES), min_size=1, max_size=3, unique=True))
    items = ", ".join(f"{text} AS a{i}" for i, text in enumerate(chosen))
    if draw(st.booleans()):
        return f"SELECT {items} FROM {start} WHERE {condition}"
    group = draw(st.sampled_from(("s.g", "s.k", "s.g, s.b")))
    return f"SELECT {group}, {items} FROM {start} WHERE {condition} GROUP BY {group}"


@given(queries(), STEPS)
def test_any_late_condition_selects_in_parts_what_it_selects_whole(
    tables: Duck, sql: str, steps: dict[str, list[pa.Table]]
) -> None:
    ways = BothWays(sql, SCHEMAS, tables, LANDMARKS)
    try:
        assert is_bounded(ways.split), [leaf.reason for leaf in ways.split.leaves]
        ways.check(steps)
    finally:
        ways.close()
