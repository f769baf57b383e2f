"""Grouped aggregates."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream import ManualClock
from upstream.engine import Engine

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
