"""Everything since a landmark: one answer that grows until the landmark is reset."""

from __future__ import annotations

from datetime import datetime
from random import Random

import pytest

from tests.queries.setting import append, asked, given, held, rows_of
from upstream import Engine, ManualClock, UnboundedQueryError, WindowError

GROWS = "SELECT sum(x) AS x FROM landmark(bids)"
SLIDES = "SELECT sum(x) AS x FROM landmark(bids, 10)"


def test_without_a_slide_there_is_an_answer_whenever_a_row_came(engine: Engine) -> None:
    query = engine.continuous_query(GROWS)
    assert query.results() == []
    append(engine, "bids", (5, 1), (7, 2))
    append(engine, "bids", (6, 4))
    assert given(query.results()) == [(5, 7, 7)]
    assert query.results() == []
    append(engine, "bids", (90, 8))
    assert given(query.results()) == [(5, 90, 15)]


def test_with_a_slide_there_is_an_answer_for_each_that_had_rows(engine: Engine) -> None:
    # time     0     10    20    30    40
    # rows      1  2    4           8     |
    # answers  ------3
    #          ------------7                  none for [20, 30): no row came in it
    #          ------------------------15
    query = engine.continuous_query(SLIDES)
    append(engine, "bids", (1, 1), (8, 2), (15, 4), (39, 8))
    assert given(query.results()) == [(1, 10, 3), (1, 20, 7)]
    append(engine, "bids", (40, 16))
    assert given(query.results()) == [(1, 40, 15)]


def test_late_rows_count_from_the_next_answer_on(engine: Engine) -> None:
    # time     0     10    20    30
    # rows      1       2     |
    # late        4                   counts in [.., 30), and moves the start
    query = engine.continuous_query(SLIDES)
    append(engine, "bids", (5, 1), (15, 2), (20, 0))
    assert given(query.results()) == [(5, 10, 1), (5, 20, 3)]
    append(engine, "bids", (2, 4))
    assert query.results() == []
    append(engine, "bids", (30, 0))
    assert given(query.results()) == [(2, 30, 7)]
    assert query.statistics().rows_late == 0


def test_rows_after_the_window_wait_for_the_next(engine: Engine) -> None:
    query = engine.continuous_query(SLIDES)
    append(engine, "bids", (5, 1), (15, 2))
    assert given(query.results()) == [(5, 10, 1)]


def test_times_before_zero_are_like_others(engine: Engine) -> None:
    query = engine.continuous_query(SLIDES)
    append(engine, "bids", (-35, 1), (-15, 2), (3, 4))
    assert given(query.results()) == [(-35, -30, 1), (-35, -10, 3)]
    without_slide = engine.continuous_query(GROWS)
    append(engine, "bids", (-35, 1), (4, 2))
    assert given(without_slide.results()) == [(-35, 4, 3)]


def test_a_slide_of_arrival_ends_by_the_clock(engine: Engine, clock: ManualClock) -> None:
    query = engine.continuous_query(
        "SELECT sum(x) AS x FROM landmark(bids, INTERVAL '10 seconds', by => arrival)",
        callback=lambda _: None,
    )
    clock.set(3)
    append(engine, "bids", (70, 1))
    assert query.results() == []
    clock.set(9.9)
    assert engine.run(1) == 0
    clock.set(12)
    assert engine.run(1) == 1
    start, end = datetime(1970, 1, 1, 0, 0, 3), datetime(1970, 1, 1, 0, 0, 10)
    assert given([asked(query)]) == [(start, end, 1)]
    clock.set(100)
    assert engine.run(1) == 0


def test_silence_ends_the_slide(engine: Engine, clock: ManualClock) -> None:
    query = engine.continuous_query(SLIDES, close_after=5)
    append(engine, "bids", (3, 1))
    clock.set(4)
    assert query.results() == []
    clock.set(5)
    assert given(query.results()) == [(3, 10, 1)]
    append(engine, "bids", (4, 2), (20, 4))
    assert given(query.results()) == []  # the row at 4 came after its slide was over
    append(engine, "bids", (30, 4))
    assert given(query.results()) == [(3, 30, 7)]


def test_close_after_is_refused_without_a_slide(engine: Engine) -> None:
    with pytest.raises(WindowError, match="close_after"):
        engine.continuous_query(GROWS, close_after=5)


def test_landmarks_of_several_streams_wait_for_the_slowest(engine: Engine) -> None:
    # time    0     10    20    30
    # bids      1  2      |
    # asks        5    |     |
    query = engine.continuous_query(
        """SELECT (SELECT sum(x) FROM landmark(bids, 10)) AS bids,
                  (SELECT sum(x) FROM landmark(asks, 10)) AS asks"""
    )
    append(engine, "bids", (1, 1), (8, 2), (21, 0))
    assert query.results() == []
    append(engine, "asks", (5, 5), (17, 0))
    assert given(query.results()) == [(1, 10, [(3, 5)])]
    append(engine, "asks", (29, 7))
    assert given(query.results()) == [(1, 20, [(3, 5)])]


def test_beside_a_stream_without_rows_nothing_is_due_once_it_was_evaluated(
    engine: Engine, clock: ManualClock
) -> None:
    query = engine.continuous_query(
        """SELECT (SELECT count(*) FROM landmark(bids, INTERVAL '1 second', by => arrival)) AS b,
                  (SELECT count(*) FROM landmark(asks, INTERVAL '1 second', by => arrival)) AS a"""
    )
    append(engine, "bids", (1,))
    query.evaluate()
    clock.set(10)
    query.evaluate()
    assert not query.is_due()  # else the engine would run it again and again


# The landmark is moved


@pytest.mark.parametrize("text", [GROWS, SLIDES])
def test_after_a_reset_rows_before_it_count_no_more(engine: Engine, text: str) -> None:
    query = engine.continuous_query(text)
    append(engine, "bids", (5, 1), (15, 2))
    query.results()
    query.reset_landmark()
    assert given([asked(query)]) == [(None, None, None)]
    assert held(query) == 0
    append(engine, "bids", (25, 4), (28, 8), (30, 0))
    [result] = query.results()
    assert result.window_start == 25
    assert rows_of(result) == [(12,)]


def test_a_result_due_at_a_reset_is_still_given(engine: Engine) -> None:
    query = engine.continuous_query(GROWS)
    append(engine, "bids", (5, 1))
    query.reset_landmark()
    append(engine, "bids", (6, 2))
    assert given(query.results()) == [(5, 5, 1), (6, 6, 2)]


def test_a_row_after_the_reset_may_be_older_than_those_before(engine: Engine) -> None:
    query = engine.continuous_query(GROWS)
    append(engine, "bids", (50, 1))
    query.reset_landmark()
    query.results()
    append(engine, "bids", (5, 2))
    assert given(query.results()) == [(5, 5, 2)]


# Asking, skipping, holding


def test_ask_returns_everything_so_far(engine: Engine) -> None:
    query = engine.continuous_query(GROWS, emit="asked")
    assert given([asked(query)]) == [(None, None, None)]
    append(engine, "bids", (5, 1))
    for _ in range(2):
        assert given([asked(query)]) == [(5, 5, 1)]
    append(engine, "bids", (9, 2))
    assert given([asked(query)]) == [(5, 9, 3)]


def test_with_a_slide_ask_returns_the_newest_closed_window(engine: Engine) -> None:
    query = engine.continuous_query(SLIDES, emit="asked")
    append(engine, "bids", (5, 1))
    assert given([asked(query)]) == [(None, None, None)]  # none is over
    append(engine, "bids", (15, 2), (25, 4), (31, 8))
    assert given([asked(query)]) == [(5, 30, 7)]


def test_an_update_query_skips_older_results_and_no_rows(engine: Engine) -> None:
    query = engine.continuous_query(SLIDES, semantics="update")
    append(engine, "bids", *[(time, 1) for time in range(0, 105, 5)])
    [result] = query.results()
    assert given([result]) == [(0, 100, 20)]
    assert query.statistics().results_skipped == 9


def test_an_answer_that_fails_is_a_result_with_an_error_and_the_next_is_good(
    engine: Engine,
) -> None:
    query = engine.continuous_query("SELECT CAST(max(note) AS INT) AS x FROM landmark(bids)")
    append(engine, "bids", (1, 0, "a", "bad"))
    [result] = query.results()
    assert result.error is not None
    assert "bad" in result.error
    assert (result.window_start, result.table.num_rows) == (1, 0)
    query.reset_landmark()
    append(engine, "bids", (2, 0, "a", "7"))
    assert given(query.results()) == [(2, 2, 7)]


def test_a_query_that_would_keep_all_rows_is_refused(engine: Engine) -> None:
    with pytest.raises(UnboundedQueryError):
        engine.continuous_query("SELECT x FROM landmark(bids)")


def test_groups_and_the_finish_are_as_for_any_query(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT k, avg(x) AS x FROM landmark(bids) GROUP BY k HAVING count(*) > 1"
    )
    append(engine, "bids", (1, 4, "a"), (2, 8, "b"), (3, 6, "a"))
    append(engine, "bids", (4, 8, "a"), (5, 10, "b"))
    [result] = query.results()
    assert rows_of(result) == [("a", 6.0), ("b", 9.0)]


# Rows that tie


def test_the_value_at_an_extreme_stands_beside_a_join_with_latest(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT arg_min(b.x, b.time) AS least, arg_max(b.x, b.time, 2) AS newest"
        " FROM landmark(bids) AS b JOIN latest(asks) AS a ON true"
    )
    append(engine, "asks", (1, 1))
    append(engine, "bids", (8, 1), (7, 2))
    assert given(query.results()) == [(7, 8, [(2, [1, 2])])]
    append(engine, "bids", (10, 4), (6, 8))
    assert given(query.results()) == [(6, 10, [(8, [4, 1])])]


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_tie_are_taken_whole_and_as_many_as_duckdb_takes(
    engine: Engine, seed: int
) -> None:
    random = Random(seed)
    query = engine.continuous_query(
        "SELECT arg_max(time, x, 5) AS times, arg_max({'time': time, 'x': x}, x, 5) AS rows"
        " FROM landmark(bids)"
    )
    chosen_by: dict[int, int] = {}
    for step in range(6):
        new = {100 * step + i: random.randint(0, 3) for i in range(random.randint(1, 7))}
        append(engine, "bids", *new.items())
        chosen_by |= new
        [result] = query.results()
        [(times, rows)] = [tuple(row.values()) for row in result.table.to_pylist()]
        assert [row["x"] for row in rows] == sorted(chosen_by.values(), reverse=True)[:5]
        assert all(chosen_by[row["time"]] == row["x"] for row in rows)
        assert [row["time"] for row in rows] == times
        assert len(set(times)) == len(times)
