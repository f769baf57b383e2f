"""Rows of a window or of a stream meet the newest rows of another stream."""

from __future__ import annotations

import pytest

from tests.queries.setting import append, every_way, given, rows_of
from upstream import Engine, UnboundedQueryError
from upstream.queries.choices import Way

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


def test_what_came_before_the_query_is_not_met(engine: Engine) -> None:
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


def test_what_it_read_is_let_go_by_the_stream(engine: Engine) -> None:
    query = engine.continuous_query(ENRICHED)
    for time in range(10):
        append(engine, "asks", (time, time))
    query.results()
    engine.sql("SELECT * FROM asks")  # its own reader takes part in what is kept
    assert engine._streams["asks"].log.stored_rows == 0
    append(engine, "asks", (11, 11))
    query.close()
    engine.sql("SELECT * FROM asks")
    assert engine._streams["asks"].log.stored_rows == 0


def test_all_rows_of_a_stream_cannot_be_met_by_an_append_query(engine: Engine) -> None:
    with pytest.raises(UnboundedQueryError, match="asks"):
        engine.continuous_query("SELECT b.x, a.x FROM tumble(bids, 10) b JOIN asks a ON a.k = b.k")
