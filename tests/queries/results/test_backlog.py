"""The backlog of results is bounded, and the next result counts the missed ones."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pyarrow as pa
import pytest

from upstream import Engine, ManualClock, QueryStatistics
from upstream.queries.results.answer import Answer
from upstream.queries.results.backlog import Backlog, Result

ROWS = pa.table({"a": [1]})


def answer(number: int, due: float = 0.0) -> Answer:
    return Answer(number, number + 1, due, 0, ROWS)


def taken(backlog: Backlog, now: float = 0.0) -> list[tuple[object, int]]:
    """Take everything: where each window starts, and how many results were missed before it."""
    results: list[tuple[object, int]] = []
    while (result := backlog.take(now)) is not None:
        results.append((result.window_start, result.missed))
    return results


def test_results_are_taken_oldest_first() -> None:
    backlog = Backlog(keep=3)
    for number in range(3):
        backlog.add(answer(number))
    assert taken(backlog) == [(0, 0), (1, 0), (2, 0)]
    assert (backlog.taken, backlog.lost, len(backlog)) == (3, 0, 0)


def test_the_oldest_result_is_dropped_when_there_are_too_many_and_the_next_counts_it() -> None:
    backlog = Backlog(keep=2)
    for number in range(5):
        backlog.add(answer(number))
    assert len(backlog) == 2
    assert taken(backlog) == [(3, 3), (4, 0)]
    assert (backlog.taken, backlog.lost) == (2, 3)


def test_results_that_were_never_made_are_missed_by_the_next() -> None:
    backlog = Backlog(keep=1)
    backlog.miss(2)
    backlog.add(answer(2))
    backlog.miss(1)
    backlog.add(answer(4))
    assert taken(backlog) == [(4, 4)]
    backlog.add(answer(5))
    assert taken(backlog) == [(5, 0)]


def test_skipping_to_the_newest_leaves_one_that_says_what_went() -> None:
    backlog = Backlog(keep=10)
    for number in range(4):
        backlog.add(answer(number))
    assert backlog.skip_to_newest() == 3
    assert backlog.skip_to_newest() == 0
    assert taken(backlog) == [(3, 3)]


def test_staleness_is_measured_when_a_result_is_taken() -> None:
    backlog = Backlog(keep=10)
    backlog.add(answer(0, due=5.0))
    backlog.add(answer(1, due=8.0))
    first = backlog.take(9.0)
    second = backlog.take(12.0)
    assert first is not None
    assert second is not None
    assert (first.staleness, second.staleness) == (4.0, 4.0)
    assert backlog.staleness_seconds == 8.0


def test_the_next_result_to_be_taken_can_be_looked_at() -> None:
    backlog = Backlog(keep=10)
    assert backlog.oldest() is None
    backlog.add(answer(7))
    oldest = backlog.oldest()
    assert oldest is not None
    assert oldest.start == 7
    assert len(backlog) == 1


def test_the_newest_is_that_of_the_newest_window_whenever_it_was_added() -> None:
    backlog = Backlog(keep=10)
    for number in (1, 3, 2):  # 2 is answered again
        backlog.add(answer(number))
    assert backlog.skip_to_newest() == 2
    assert taken(backlog) == [(3, 1)]
    backlog.add(answer(4))
    assert taken(backlog) == [(4, 1)]


def test_an_answer_is_the_result_of_the_moment_at_which_it_is_taken() -> None:
    result = Result.of(answer(3, due=1.0), now=2.5)
    assert (result.window_start, result.staleness, result.missed) == (3, 1.5, 0)
    assert Result.of(answer(3, due=1.0), now=0.5).staleness == 0.0


# The counts of a query


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


def test_statistics_are_a_snapshot() -> None:
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
