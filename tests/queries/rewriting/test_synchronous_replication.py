"""Grouped aggregates."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream import ManualClock
from upstream.database.duck import Duck
from upstream.engine import Engine

from .fixture_files import parts_of
from .rule_contract import RuleContract


class TestSynchronousReplication(RuleContract):
    rule = "synchronous_replication"


class TestDistinctRows(RuleContract):
    rule = "distinct_rows"


class TestHaving(RuleContract):
    rule = "having"


CONDITIONS = [
    "count(*) > 1 AND count(*) < 50000",
    "count(*) > 1 OR sum(x) > 5",
    "max(x) IS NOT NULL AND NOT (sum(x) < 0 OR min(x) BETWEEN 500 AND 600)",
    "CASE WHEN count(*) > 1 AND max(x) > 3 THEN max(x) - min(x) > 0 ELSE min(x) = 0 END",
    "max(x) FILTER (WHERE x > 5) - min(x) FILTER (WHERE x > 5) > 0 AND avg(x) > 0",
]


@pytest.mark.parametrize("window", ["hop(s, 10, 1)", "landmark(s)"])
def test_conditions_on_aggregates_keep_no_rows(window: str) -> None:
    engine = Engine(clock=ManualClock())
    engine.sql("CREATE STREAM s (time BIGINT, g BIGINT, x BIGINT) TIME (time)")
    queries = [
        engine.continuous_query(
            f"SELECT g, sum(x) AS total FROM {window} GROUP BY g HAVING {condition} "
            f"ORDER BY CASE WHEN count(*) > 1 AND sum(x) > 0 THEN 1 ELSE 2 END, g",
            evaluation="increments",
        )
        for condition in CONDITIONS
    ]
    rows = 400
    for second in range(20):
        numbers = list(range(rows))
        groups, times = [number % 5 for number in numbers], [second] * rows
        engine.append("s", pa.table({"time": times, "g": groups, "x": numbers}))
        for query in queries:
            assert all(result.table.num_rows == 5 for result in query.results())
    assert all(query.statistics().results_taken > 5 for query in queries)
    assert all(query.statistics().rows_held < rows for query in queries)
    engine.close()


class TestGroupingSets(RuleContract):
    rule = "grouping_sets"


def finish_of(sql: str, duck: Duck) -> str:
    return parts_of(sql, duck).splitlines()[-1]


def test_one_row_of_each_group_is_read(tables: Duck) -> None:
    finish = finish_of("SELECT g, sum(y) + 1 AS s FROM chunk_0 s GROUP BY g", tables)
    assert finish == 'finish: SELECT "__g0" AS "g", "__s0" + 1 AS "s" FROM merged_0'


def test_without_groups_it_aggregates_once_more_so_that_no_row_is_a_row(tables: Duck) -> None:
    finish = finish_of("SELECT count(*) AS n FROM chunk_0 s", tables)
    assert finish == (
        'finish: SELECT COALESCE(CAST(SUM("__s0") AS BIGINT), 0) AS "n" FROM merged_0'
    )


def test_having_over_groups_is_a_condition_on_rows(tables: Duck) -> None:
    finish = finish_of("SELECT g FROM chunk_0 s GROUP BY g HAVING sum(y) > 1", tables)
    assert finish.endswith('FROM merged_0 WHERE "__s0" > 1')
