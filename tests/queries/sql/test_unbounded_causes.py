"""Of a query that would need all rows it is said why, and what to write."""

from __future__ import annotations

import pytest

from upstream import Engine, ManualClock, UnboundedQueryError
from upstream.queries.sql import read_query
from upstream.queries.sql.unbounded_causes import cause_and_cure

from .example_streams import STREAMS


@pytest.mark.parametrize(
    ("text", "cause", "cure"),
    [
        ("SELECT price FROM trades ORDER BY price", "ORDER BY", "hop(stream"),
        ("SELECT symbol, sum(price) FROM trades GROUP BY symbol", "GROUP BY", "landmark(stream)"),
        ("SELECT DISTINCT symbol FROM trades", "DISTINCT", "semantics='update'"),
        ("FROM trades LIMIT 3", "LIMIT", "hop(stream"),
        ("SELECT sum(price) FROM trades", "", "hop(stream"),
        ("FROM trades t JOIN ticks k ON t.price = k.value", "a join of streams", "latest(ticks)"),
    ],
)
def test_the_part_that_needs_all_rows_is_named(text: str, cause: str, cure: str) -> None:
    found = cause_and_cure(read_query(text, STREAMS))
    assert found[0] == cause
    assert cure in found[1]


def test_a_query_that_cannot_stand_is_told_why() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM a (k INT, v INT) KEY (k)")
        engine.sql("CREATE STREAM b (k INT, w INT) KEY (k)")
        with pytest.raises(UnboundedQueryError, match=r"all rows: ORDER BY"):
            engine.continuous_query("SELECT v FROM a ORDER BY v")
        with pytest.raises(UnboundedQueryError, match=r"a join of streams[^$]*latest\(b\)"):
            engine.continuous_query("SELECT v, w FROM a JOIN b USING (k)")
        engine.continuous_query("SELECT v, w FROM a JOIN latest(b) USING (k)")
