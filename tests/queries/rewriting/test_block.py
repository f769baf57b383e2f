"""Joins of streams with tables, and with one another; and partials for many steps at once."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.queries.rewriting.block import by_step, conditions_of, group_by_first

from ..parsed import select_of
from .rule_contract import RuleContract


class TestTableJoins(RuleContract):
    rule = "table_join"


class TestStreamJoins(RuleContract):
    rule = "stream_join"


@pytest.mark.parametrize(
    ("sql", "conditions"),
    [
        ("SELECT 1 FROM a", []),
        ("SELECT 1 FROM a, b WHERE (x AND y) AND z", ["x", "y", "z"]),
        ("SELECT 1 FROM a JOIN b ON x AND y JOIN c ON z OR u WHERE v", ["v", "x", "y", "z OR u"]),
        ("SELECT 1 FROM a LEFT JOIN b ON x INNER JOIN c ON y", ["y"]),
        ("SELECT 1 FROM a FULL JOIN b ON x SEMI JOIN c ON y CROSS JOIN d", []),
    ],
)
def test_each_pair_of_rows_meets_where_and_the_conditions_of_inner_joins(
    sql: str, conditions: list[str]
) -> None:
    assert [each.sql("duckdb") for each in conditions_of(select_of(sql))] == conditions


def _by_step(sql: str, groups: int | None = None) -> str:
    return by_step(select_of(sql), groups=groups).sql("duckdb").replace('"', "")


@pytest.mark.parametrize(
    ("sql", "groups", "expected"),
    [
        ("SELECT x FROM chunk_0 AS s", None, "SELECT s.__step AS __step, x FROM chunk_0 AS s"),
        (
            "SELECT *, t.* FROM chunk_0 AS s, t",
            None,
            "SELECT s.__step AS __step, * EXCLUDE (__step), t.* FROM chunk_0 AS s, t",
        ),
        (
            "SELECT s.* EXCLUDE (x) FROM chunk_0 AS s",
            None,
            "SELECT s.__step AS __step, s.* EXCLUDE (x, __step) FROM chunk_0 AS s",
        ),
        (
            "SELECT S.* FROM chunk_0 AS s",
            None,
            "SELECT s.__step AS __step, S.* EXCLUDE (__step) FROM chunk_0 AS s",
        ),
        (
            "SELECT SUM(x) FROM chunk_0 AS s",
            0,
            "SELECT s.__step AS __step, SUM(x) FROM chunk_0 AS s GROUP BY 1",
        ),
        (
            "SELECT g, COUNT(*) FROM chunk_0 AS s GROUP BY 1",
            1,
            "SELECT s.__step AS __step, g, COUNT(*) FROM chunk_0 AS s GROUP BY 1, 2",
        ),
        (
            "SELECT 1 FROM chunk_0 AS a, chunk_1 AS b",
            None,
            "SELECT LEAST(a.__step, b.__step) AS __step, 1 FROM chunk_0 AS a, chunk_1 AS b",
        ),
        (
            "SELECT y FROM (SELECT x FROM chunk_0 AS s) AS r(y)",
            None,
            (
                "SELECT r.__step AS __step, y FROM "
                "(SELECT s.__step AS __step, x FROM chunk_0 AS s) AS r(__step, y)"
            ),
        ),
    ],
)
def test_the_step_stands_in_front(sql: str, groups: int | None, expected: str) -> None:
    assert _by_step(sql, groups) == expected


@pytest.mark.parametrize(("count", "clause"), [(2, " GROUP BY 1, 2"), (0, "")])
def test_columns_are_grouped_by_their_numbers(count: int, clause: str) -> None:
    query = exp.select("g", "h").from_("t")
    group_by_first(query, count)
    assert query.sql() == f"SELECT g, h FROM t{clause}"
