"""The counts of a view: what came, what waits, what is held, and how often it is read."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from tests.queries.setting import append
from upstream import Engine
from upstream.queries.results.view_statistics import ViewStatistics


def test_a_view_counts_rows_reads_and_refreshes(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT k, sum(x) AS n FROM bids GROUP BY k")
    view = engine.view("v")
    append(engine, "bids", (1, 5), (1, 6, "b"), (2, 7))
    view.table()
    view.table()
    append(engine, "bids", (3, 5))
    counts = view.statistics()
    assert isinstance(counts, ViewStatistics)
    assert (counts.rows_read, counts.rows_waiting, counts.rows_held) == (3, 1, 2)
    assert (counts.reads, counts.refreshes, counts.rows_failed, counts.error) == (2, 1, 0, None)
    with pytest.raises(FrozenInstanceError):
        counts.reads = 0  # type: ignore[misc]


def test_rows_that_fail_are_counted_and_the_last_reason_is_told(engine: Engine) -> None:
    engine.sql(
        "CREATE VIEW v WITH (on_error = 'skip') AS SELECT k, sum(note::INT) AS n FROM bids"
        " GROUP BY k"
    )
    append(engine, "bids", (1, 1, "a", "x"), (2, 1, "a", "4"))
    assert engine.view("v").table().to_pylist() == [{"k": "a", "n": 4}]
    counts = engine.view("v").statistics()
    assert counts.rows_failed == 1
    assert "'x'" in (counts.error or "")
