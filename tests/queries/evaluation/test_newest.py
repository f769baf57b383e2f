"""Queries over the newest rows of each key, which have only a current answer."""

from __future__ import annotations

import pytest

from tests.queries.setting import append, asked, every_way, given, held, rows_of
from upstream import Engine, ManualClock, UnboundedQueryError
from upstream.queries.choices import Way

PER_KEY = "SELECT k, x FROM bids"
TOTAL = "SELECT sum(x) AS x FROM latest(bids)"


def test_a_row_wise_query_returns_only_changed_keys(engine: Engine) -> None:
    query = engine.continuous_query(PER_KEY, semantics="update")
    append(engine, "bids", (1, 1, "a"), (2, 2, "b"), (3, 3, "a"))
    assert [rows_of(each) for each in query.results()] == [[("a", 3), ("b", 2)]]
    append(engine, "bids", (4, 4, "b"))
    assert [rows_of(each) for each in query.results()] == [[("b", 4)]]
    assert query.results() == []
    assert rows_of(asked(query)) == [("a", 3), ("b", 4)]


def test_superseded_and_late_rows_are_counted(engine: Engine) -> None:
    query = engine.continuous_query(PER_KEY, semantics="update")
    append(engine, "bids", (5, 1, "a"), (6, 2, "a"))
    append(engine, "bids", (7, 3, "a"), (4, 9, "a"))
    assert [rows_of(each) for each in query.results()] == [[("a", 3)]]
    counts = query.statistics()
    assert (counts.rows_read, counts.rows_superseded, counts.rows_late) == (4, 2, 1)
    assert counts.rows_held == 1


def test_late_rows_alone_give_no_result(engine: Engine) -> None:
    query = engine.continuous_query(PER_KEY, semantics="update")
    append(engine, "bids", (5, 1))
    query.results()
    append(engine, "bids", (4, 2))
    assert query.results() == []


def test_an_aggregate_is_over_the_newest_rows_of_all_keys(engine: Engine) -> None:
    query = engine.continuous_query(TOTAL)
    append(engine, "bids", (1, 1, "a"), (1, 10, "b"))
    assert given(query.results()) == [(None, None, 11)]
    append(engine, "bids", (2, 2, "a"))
    assert given(query.results()) == [(None, None, 12)]
    assert query.results() == []


def test_several_rows_of_each_group_can_be_the_newest(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT k, sum(x) AS x FROM latest(bids, rows => 2, per => k) GROUP BY k"
    )
    append(engine, "bids", (1, 1, "a"), (2, 2, "a"), (3, 4, "a"), (1, 8, "b"))
    assert [rows_of(each) for each in query.results()] == [[("a", 6), ("b", 8)]]
    assert held(query) == 3


def test_streams_are_joined_as_they_are_now(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT b.k, a.x - b.x AS spread FROM latest(bids) b JOIN latest(asks) a ON a.k = b.k"
    )
    append(engine, "bids", (1, 10))
    assert [rows_of(each) for each in query.results()] == [[]]
    append(engine, "asks", (1, 13))
    assert [rows_of(each) for each in query.results()] == [[("a", 3)]]
    append(engine, "bids", (2, 12))
    assert [rows_of(each) for each in query.results()] == [[("a", 1)]]


@pytest.mark.parametrize("start", [0, 100])
def test_the_staleness_of_ask_is_that_of_its_news(start: float) -> None:
    clock = ManualClock(start)
    with Engine(clock=clock) as engine:
        engine.sql("CREATE STREAM bids (time BIGINT, k TEXT, x BIGINT) KEY (k) TIME (time)")
        query = engine.continuous_query(TOTAL, emit_every=60)
        engine.append("bids", {"time": [1], "k": ["a"], "x": [1]})
        query.results()
        engine.append("bids", {"time": [2], "k": ["a"], "x": [2]})
        clock.advance(5)
        result = asked(query)
        assert (rows_of(result), result.staleness) == ([(2,)], 5.0)


def test_before_the_first_row_ask_returns_the_answer_over_no_rows(engine: Engine) -> None:
    query = engine.continuous_query(TOTAL, emit="asked")
    assert rows_of(asked(query)) == [(None,)]
    append(engine, "bids", (1, 1))
    assert query.results() == []
    assert rows_of(asked(query)) == [(1,)]
    assert rows_of(asked(query)) == [(1,)]
    assert query.statistics().results_skipped == 0


def test_an_answer_that_fails_is_a_result_with_an_error_and_the_next_is_good(
    engine: Engine,
) -> None:
    query = engine.continuous_query("SELECT sum(CAST(note AS INT)) AS x FROM latest(bids)")
    append(engine, "bids", (1, 0, "a", "bad"))
    [result] = query.results()
    assert result.error is not None
    assert result.table.num_rows == 0
    append(engine, "bids", (2, 0, "a", "7"))
    assert given(query.results()) == [(None, None, 7)]
    assert query.statistics().error == result.error


# Rows of a window or of a stream meet the newest rows of another stream


ENRICHED = "SELECT b.x, a.x AS ask FROM bids b JOIN latest(asks) a ON a.k = b.k"


def test_a_row_meets_what_is_the_newest_when_it_is_evaluated(engine: Engine) -> None:
    query = engine.continuous_query(ENRICHED)
    append(engine, "asks", (1, 10), (2, 11))
    append(engine, "bids", (1, 1))
    assert [rows_of(each) for each in query.results()] == [[(1, 11)]]
    append(engine, "asks", (3, 12))
    assert query.results() == []
    append(engine, "bids", (2, 2))
    assert [rows_of(each) for each in query.results()] == [[(2, 12)]]


def test_rows_from_before_the_query_are_not_joined(engine: Engine) -> None:
    append(engine, "asks", (1, 10))
    query = engine.continuous_query(ENRICHED)
    append(engine, "bids", (1, 1))
    assert query.results() == []


def test_a_row_that_is_older_than_the_newest_changes_nothing(engine: Engine) -> None:
    query = engine.continuous_query(ENRICHED)
    append(engine, "asks", (5, 10))
    append(engine, "asks", (4, 99))
    append(engine, "bids", (1, 1))
    assert [rows_of(each) for each in query.results()] == [[(1, 10)]]


@every_way
def test_the_rows_of_a_window_meet_the_newest_rows(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(
        "SELECT sum(b.x * a.x) AS x FROM tumble(bids, 10) b JOIN latest(asks) a ON a.k = b.k",
        evaluation=way,
    )
    append(engine, "asks", (1, 10, "a"), (1, 100, "b"))
    append(engine, "bids", (1, 1, "a"), (2, 2, "b"), (10, 3, "a"))
    assert given(query.results()) == [(0, 10, 210)]
    append(engine, "asks", (2, 20, "a"))
    append(engine, "bids", (20, 0, "a"))
    (_, end, x), *others = given(query.results())
    assert (end, others) == (20, [])
    assert x in {30, 60}  # it may have been evaluated as soon as it came


def test_the_stream_drops_the_rows_that_the_join_has_read(engine: Engine) -> None:
    query = engine.continuous_query(ENRICHED)
    for time in range(10):
        append(engine, "asks", (time, time))
    query.results()
    engine.sql("SELECT * FROM asks")  # its own reader takes part in what is kept
    assert engine._catalogue.streams["asks"].log.stored_rows == 0
    append(engine, "asks", (11, 11))
    query.close()
    engine.sql("SELECT * FROM asks")
    assert engine._catalogue.streams["asks"].log.stored_rows == 0


def test_an_append_query_cannot_join_all_rows_of_a_stream(engine: Engine) -> None:
    with pytest.raises(UnboundedQueryError, match="asks"):
        engine.continuous_query("SELECT b.x, a.x FROM tumble(bids, 10) b JOIN asks a ON a.k = b.k")
