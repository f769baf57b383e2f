"""The backlog of results is bounded, and stores what some reader has not taken."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pyarrow as pa
import pytest

from upstream import Engine, ManualClock, QueryStatistics
from upstream.queries.results.answer import Answer
from upstream.queries.results.backlog import Backlog, Result
from upstream.queries.results.result_reader import ResultReader

ROWS = pa.table({"a": [1]})


def answer(number: int, due: float = 0.0) -> Answer:
    return Answer(number, number + 1, due, 0, ROWS)


def test_what_all_readers_have_passed_is_forgotten() -> None:
    backlog = Backlog(keep=10)
    fast, slow = ResultReader(backlog, "fast"), ResultReader(backlog, "slow")
    for number in range(4):
        backlog.add(answer(number))
    fast.take_all(0.0)
    assert [made.number for made in backlog.stored] == [0, 1, 2, 3]
    slow.take(0.0)
    assert [made.number for made in backlog.stored] == [1, 2, 3]
    slow.take(0.0)
    slow.take_all(0.0)
    assert not backlog.stored
    assert (backlog.first, backlog.made) == (4, 4)


def test_one_reader_leaves_nothing_behind_at_once() -> None:
    backlog = Backlog(keep=10)
    reader = ResultReader(backlog, "only")
    for number in range(3):
        backlog.add(answer(number))
        assert reader.take(0.0) is not None
        assert not backlog.stored


def test_no_more_results_than_a_reader_may_leave_waiting_are_stored() -> None:
    backlog = Backlog(keep=2)
    ResultReader(backlog, "only")
    for number in range(5):
        backlog.add(answer(number))
    assert [made.number for made in backlog.stored] == [3, 4]
    assert (backlog.first, backlog.made, backlog.next_ordinal) == (3, 5, 5)


def test_an_answer_is_the_result_of_the_moment_at_which_it_is_taken() -> None:
    result = Result.of(answer(3, due=1.0), now=2.5)
    assert (result.window_start, result.staleness, result.missed) == (3, 1.5, 0)
    assert Result.of(answer(3, due=1.0), now=0.5).staleness == 0.0
    assert (result.number, result.epoch) == (None, None)
    numbered = Result.of(replace(answer(3), epoch=7), now=0.0, number=5)
    assert (numbered.number, numbered.epoch) == (5, 7)


def test_the_next_results_are_known_before_they_are_added() -> None:
    backlog = Backlog(keep=10, first=4)
    assert backlog.newest == 3
    backlog.add(answer(0))
    found = backlog.next([answer(1), answer(2)], missed=3)
    assert [each[:2] for each in found] == [(5, 4), (6, 5)]
    assert (backlog.made, backlog.next_ordinal) == (5, 1)
    backlog.miss(3)
    for each in found:
        backlog.add(each.answer)
    assert [*backlog.stored][1:] == found
    assert (backlog.newest, Backlog(keep=1).newest) == (6, None)


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
