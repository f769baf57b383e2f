"""An append query without a window evaluates each new row once and keeps no rows."""

from __future__ import annotations

import pytest

from tests.queries.setting import append, given, held, rows_of
from upstream import Engine, StatementError

TWICE = "SELECT k, 2 * x AS x FROM bids WHERE x > 0"


def test_each_new_row_is_given_once(engine: Engine) -> None:
    query = engine.continuous_query(TWICE)
    append(engine, "bids", (5, 1), (3, 2))
    append(engine, "bids", (4, 3))
    [result] = query.results()
    assert rows_of(result) == [("a", 2), ("a", 4), ("a", 6)]
    assert (result.window_start, result.window_end) == (None, None)
    assert query.results() == []
    append(engine, "bids", (6, 4))
    assert [rows_of(each) for each in query.results()] == [[("a", 8)]]


def test_rows_come_in_their_order(engine: Engine) -> None:
    query = engine.continuous_query("SELECT x FROM bids")
    append(engine, "bids", (3, 30), (1, 10))
    append(engine, "bids", (2, 20))
    [result] = query.results()
    assert result.table["x"].to_pylist() == [30, 10, 20]


def test_a_result_without_rows_is_not_given(engine: Engine) -> None:
    query = engine.continuous_query(TWICE)
    append(engine, "bids", (5, 0))
    assert query.results() == []
    assert query.statistics().rows_read == 1


def test_the_rows_of_two_streams_are_put_one_after_the_other(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT 'bid' AS side, x FROM bids UNION ALL SELECT 'ask', x FROM asks"
    )
    append(engine, "asks", (1, 10))
    append(engine, "bids", (1, 20))
    append(engine, "asks", (1, 30))
    [result] = query.results()
    assert rows_of(result) == [("ask", 10), ("ask", 30), ("bid", 20)]
    append(engine, "bids", (1, 40))
    assert [rows_of(each) for each in query.results()] == [[("bid", 40)]]


def test_a_batch_whose_rows_all_fail_has_a_result_that_says_so(engine: Engine) -> None:
    query = engine.continuous_query("SELECT CAST(note AS INT) AS x FROM bids")
    append(engine, "bids", (1, 0, "a", "bad"), (2, 0, "a", "worse"))
    [result] = query.results()
    assert (result.table.num_rows, result.rows_failed, result.error) == (0, 2, None)
    assert query.statistics().rows_failed == 2


def test_a_batch_with_a_row_that_fails_is_an_error_if_that_is_wanted(engine: Engine) -> None:
    query = engine.continuous_query("SELECT CAST(note AS INT) AS x FROM bids", on_error="fail")
    append(engine, "bids", (1, 0, "a", "bad"), (2, 0, "a", "2"), (3, 0, "a", "worse"))
    [result] = query.results()
    assert (result.table.num_rows, result.rows_failed) == (0, 2)
    assert result.error is not None
    assert result.error.startswith("2 rows fail: ")
    append(engine, "bids", (4, 0, "a", "4"))
    assert given(query.results()) == [(None, None, 4)]


def test_a_long_backlog_is_returned_in_several_results_without_losing_any(engine: Engine) -> None:
    query = engine.continuous_query("SELECT x FROM bids")
    rows = 60_000
    for batch in range(5):
        numbers = range(batch * rows, (batch + 1) * rows)
        engine.append("bids", {"time": numbers, "k": ["a"] * rows, "x": numbers})
    results = query.results()
    assert [result.table.num_rows for result in results] == [2 * rows, 2 * rows, rows]
    found = [x for result in results for x in result.table["x"].to_pylist()]
    assert found == list(range(5 * rows))


def test_nothing_is_held_and_nothing_can_be_asked_for(engine: Engine) -> None:
    query = engine.continuous_query(TWICE)
    append(engine, "bids", (1, 1))
    query.results()
    assert held(query) == 0
    with pytest.raises(StatementError, match="keeps no rows"):
        query.ask()
