"""The counts of a standing query, and that they add up."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from upstream import Engine, ManualClock, QueryStatistics

EMPTY = QueryStatistics(
    name="q",
    semantics="append",
    results_due=15,
    results_taken=1,
    results_skipped=2,
    results_dropped=3,
    results_unchanged=4,
    results_waiting=5,
    rows_read=0,
    rows_waiting=0,
    rows_late=0,
    rows_superseded=0,
    rows_failed=0,
    rows_held=0,
    evaluations=0,
    evaluation_seconds=0.0,
    staleness_seconds_mean=0.0,
    callback_failures=0,
    error=None,
)


def test_each_result_that_was_due_is_in_one_count() -> None:
    assert EMPTY.is_balanced
    for name in ("taken", "skipped", "dropped", "unchanged", "waiting"):
        count = getattr(EMPTY, f"results_{name}")
        assert not replace(EMPTY, **{f"results_{name}": count + 1}).is_balanced


def test_they_are_a_snapshot() -> None:
    with pytest.raises(FrozenInstanceError):
        EMPTY.results_due = 0  # type: ignore[misc]  # that it fails is what is tested


def test_rows_are_counted_as_read_waiting_and_held() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (i BIGINT)")
        query = engine.continuous_query("SELECT sum(i) AS i FROM rows(s, 4, 2)")
        engine.append("s", {"i": [1, 2, 3, 4, 5]})
        before = query.statistics()
        assert (before.rows_read, before.rows_waiting, before.rows_held) == (0, 5, 0)
        assert [result.table["i"][0].as_py() for result in query.results()] == [10]
        after = query.statistics()
        assert (after.rows_read, after.rows_waiting) == (5, 0)
        assert after.rows_held > 0
        assert after.evaluations == 1
