"""Sessions: which are answered, when, and over which rows."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import pytest

from tests.queries.setting import append, asked, given
from upstream import Engine, ManualClock, UnboundedQueryError, WindowError

COUNTS = "SELECT k, count(*) AS n, sum(x) AS x FROM session(bids, 10, per => k) GROUP BY k"
ALL = "SELECT sum(x) AS x FROM session(bids, 10)"


def test_a_session_is_answered_when_time_has_passed_its_end(engine: Engine) -> None:
    # time   0    5    10   15   20   25   30
    # a       1  2                 4
    # b           8         9
    query = engine.continuous_query(COUNTS)
    append(engine, "bids", (1, 1, "a"), (4, 2, "a"), (5, 8, "b"))
    assert query.results() == []
    append(engine, "bids", (15, 9, "b"))
    assert given(query.results()) == [(1, 14, [("a", 2, 3)]), (5, 15, [("b", 1, 8)])]
    append(engine, "bids", (22, 4, "a"))
    assert query.results() == []
    append(engine, "bids", (50, 0, "c"))
    assert given(query.results()) == [(15, 25, [("b", 1, 9)]), (22, 32, [("a", 1, 4)])]
    assert query.results() == []
    counts = query.statistics()
    assert (counts.results_due, counts.is_balanced) == (4, True)


def test_without_columns_there_are_sessions_of_each_key(engine: Engine) -> None:
    query = engine.continuous_query(ALL)
    append(engine, "bids", (1, 1, "a"), (2, 2, "b"), (9, 4, "a"), (40, 8, "a"))
    assert given(query.results()) == [(2, 12, 2), (1, 19, 5)]


def test_rows_of_a_stream_without_a_key_are_all_of_one_session(engine: Engine) -> None:
    engine.sql("CREATE STREAM beats (time BIGINT, x BIGINT) TIME (time)")
    query = engine.continuous_query("SELECT sum(x) AS x FROM session(beats, 10)")
    engine.append("beats", {"time": [1, 9, 18, 40], "x": [1, 2, 4, 8]})
    assert given(query.results()) == [(1, 28, 7)]


def test_a_late_row_that_reaches_an_open_session_is_of_it(engine: Engine) -> None:
    query = engine.continuous_query(COUNTS)
    append(engine, "bids", (20, 1, "a"), (12, 2, "a"), (5, 4, "a"), (5, 8, "b"))
    append(engine, "bids", (40, 0, "c"))
    assert given(query.results()) == [(5, 30, [("a", 3, 7)])]
    assert query.statistics().rows_late == 1  # the session of b would have ended at 15


def test_a_session_that_has_ended_stays_as_it_is(engine: Engine) -> None:
    query = engine.continuous_query(COUNTS)
    append(engine, "bids", (1, 1, "a"), (30, 0, "c"))
    assert given(query.results()) == [(1, 11, [("a", 1, 1)])]
    append(engine, "bids", (5, 2, "a"))
    assert query.results() == []
    assert query.statistics().rows_late == 1


def test_over_arrival_sessions_end_by_the_clock(engine: Engine, clock: ManualClock) -> None:
    query = engine.continuous_query(
        "SELECT sum(x) AS x FROM session(bids, INTERVAL '10 seconds', by => arrival)"
    )
    clock.set(3)
    append(engine, "bids", (0, 1))
    clock.set(9)
    append(engine, "bids", (0, 2))
    assert query.results() == []
    clock.set(18.9)
    assert not query.is_due()
    clock.set(21)
    assert query.is_due()
    [result] = query.results()
    start, end = datetime(1970, 1, 1, 0, 0, 3), datetime(1970, 1, 1, 0, 0, 19)
    assert given([result]) == [(start, end, 3)]
    assert result.staleness == 2.0


def test_silence_ends_sessions(engine: Engine, clock: ManualClock) -> None:
    query = engine.continuous_query(ALL, close_after=5)
    append(engine, "bids", (3, 1))
    clock.set(4.9)
    assert query.results() == []
    clock.set(20)
    assert given(query.results()) == [(3, 13, 1)]


def test_a_query_reads_the_bounds_of_each_session(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT k, window_start AS s, window_end - window_start AS long"
        " FROM session(bids, 10, per => k) GROUP BY k"
    )
    append(engine, "bids", (1, 1, "a"), (6, 1, "a"), (7, 1, "b"), (99, 1, "c"))
    assert given(query.results()) == [(1, 16, [("a", 1, 15)]), (7, 17, [("b", 7, 10)])]


@pytest.mark.parametrize(("semantics", "starts"), [("append", [1, 3, 5]), ("update", [5])])
def test_an_update_query_returns_the_newest_of_sessions_that_end_together(
    engine: Engine, semantics: Literal["append", "update"], starts: list[int]
) -> None:
    query = engine.continuous_query(
        "SELECT k, count(*) AS n FROM session(bids, 10, per => k) GROUP BY k", semantics
    )
    append(engine, "bids", (1, 1, "a"), (3, 1, "b"), (5, 1, "c"), (50, 1, "d"))
    assert [start for start, _, _ in given(query.results())] == starts


def test_ask_returns_the_session_that_ended_last(engine: Engine) -> None:
    query = engine.continuous_query(ALL, emit="asked")
    for rows, start in (((), None), (((1, 1),), None), (((20, 2),), 1), (((40, 4),), 20)):
        if rows:
            append(engine, "bids", *rows)
        for _ in range(2):
            assert asked(query).window_start == start


def test_rows_that_fail_are_left_out_of_their_session(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(CAST(note AS INT)) AS x FROM session(bids, 10)")
    append(engine, "bids", (1, 0, "a", "1"), (2, 0, "a", "bad"), (30, 0, "a", "4"), (60,))
    results = query.results()
    assert [x for _, _, x in given(results)] == [1, 4]
    assert [result.rows_failed for result in results] == [1, 0]
    assert query.statistics().rows_failed == 1


def test_rows_that_fail_are_counted_once_however_often_they_are_asked_for(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT sum(CAST(note AS INT)) AS x FROM session(bids, 10)", emit_every=60
    )
    append(engine, "bids", (1, 0, "a", "1"), (20,))
    query.results()
    append(engine, "bids", (21, 0, "a", "bad"), (50,))
    for _ in range(3):
        assert (asked(query).rows_failed, query.statistics().rows_failed) == (1, 1)


def test_a_session_joins_the_newest_rows_of_another_stream_and_no_other_window(
    engine: Engine,
) -> None:
    query = engine.continuous_query(
        "SELECT sum(b.x * a.x) AS x FROM session(bids, 10) b JOIN latest(asks) a USING (k)"
    )
    append(engine, "asks", (1, 10))
    append(engine, "bids", (1, 1), (2, 2), (30, 4))
    assert given(query.results()) == [(1, 12, 30)]
    with pytest.raises(WindowError):
        engine.continuous_query("SELECT 1 FROM session(bids, 10) b, session(asks, 10) a")
    with pytest.raises(UnboundedQueryError):
        engine.continuous_query("SELECT b.x FROM session(bids, 10) b JOIN asks a USING (k)")
