"""A view that is never asked."""

from __future__ import annotations

import pytest

from upstream import Engine, ManualClock

NUMBERS = {"k": range(10_000), "x": [1] * 10_000}


@pytest.mark.parametrize("state", ["sum(x)", "max(x::TEXT)"])
def test_memory_depends_on_the_groups_before_the_view_is_asked(state: str) -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM numbers (k BIGINT, x BIGINT) KEY (k)")
        engine.sql(f"CREATE VIEW v AS SELECT k % 1000 AS g, {state} AS x FROM numbers GROUP BY g")
        view = engine.view("v")
        for _ in range(30):
            engine.append("numbers", NUMBERS)
            view._view.evaluate()
        assert view.statistics().rows_held < 11_000
        assert view.table().num_rows == 1_000
