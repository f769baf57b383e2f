"""Settings do not change under the queries that stand."""

from __future__ import annotations

import pytest

from upstream import Engine, StatementError

CHANGES = [
    "SET integer_division = true",
    "SET GLOBAL default_order = 'DESC'",
    "SET TimeZone = 'America/New_York'",
    "SET TIME ZONE 'America/New_York'",
    "RESET TimeZone",
    "PRAGMA default_null_order = 'nulls_first'",
    "SET default_collation = 'nocase'",
]


@pytest.mark.parametrize("text", CHANGES)
def test_a_setting_that_changes_results_is_refused_while_a_query_stands(text: str) -> None:
    with Engine() as engine:
        engine.sql("CREATE STREAM s (time BIGINT, x BIGINT) TIME (time)")
        query = engine.continuous_query("SELECT sum(x) FROM tumble(s, 2)")
        with pytest.raises(StatementError, match="standing"):
            engine.sql(text)
        query.close()
        engine.sql(text)


def test_other_settings_change_at_any_time() -> None:
    with Engine() as engine:
        engine.sql("CREATE STREAM s (time BIGINT, x BIGINT) TIME (time)")
        engine.continuous_query("SELECT sum(x) FROM tumble(s, 2)")
        engine.sql("SET memory_limit = '1GB'")
        engine.sql("SELECT 'SET integer_division'")
