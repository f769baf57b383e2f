"""Standing queries from outside: their results, counts and descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest

from upstream import (
    ClosedError,
    ContinuousQuery,
    Engine,
    ManualClock,
    Result,
)
from upstream.queries import Semantics

MIDNIGHT = datetime(2026, 1, 2)
SUMS = "SELECT symbol, sum(size) AS size FROM tumble(trades, INTERVAL '10 seconds') GROUP BY symbol"


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine(clock=clock) as engine:
        engine.sql("CREATE STREAM trades (time TIMESTAMP, symbol TEXT, size BIGINT) KEY (symbol)")
        yield engine


def append(engine: Engine, *rows: tuple[float, str, int]) -> None:
    """Append trades: seconds after midnight, symbol, size."""
    times, symbols, sizes = zip(*rows, strict=True)
    columns = [[MIDNIGHT + timedelta(seconds=second) for second in times], symbols, sizes]
    engine.append("trades", dict(zip(("time", "symbol", "size"), columns, strict=True)))


def seconds(*results: Result) -> list[float]:
    """Return where the windows of results start, in seconds after midnight."""
    starts = [result.window_start for result in results]
    return [(start - MIDNIGHT).total_seconds() for start in starts if isinstance(start, datetime)]


def check_counts(query: ContinuousQuery) -> None:
    """Every result that was due is accounted for."""
    assert query.statistics().is_balanced


def test_results_come_once_with_bounds_in_the_type_of_the_time_column(engine: Engine) -> None:
    query = engine.continuous_query(SUMS)
    append(engine, (1, "IBM", 5), (2, "IBM", 6), (12, "HP", 1), (25, "HP", 2))
    first, second = query.results()
    assert (first.window_start, first.window_end) == (MIDNIGHT, MIDNIGHT + timedelta(seconds=10))
    assert first.table.to_pylist() == [{"symbol": "IBM", "size": 11}]
    assert second.table.to_pylist() == [{"symbol": "HP", "size": 1}]
    assert query.schema == first.table.schema
    assert query.results() == []
    check_counts(query)


def test_staleness_is_counted_from_the_row_that_closed_the_window(
    engine: Engine, clock: ManualClock
) -> None:
    query = engine.continuous_query(SUMS)
    append(engine, (1, "IBM", 5))
    clock.advance(4)
    append(engine, (11, "IBM", 5))
    clock.advance(3)
    [result] = query.results()
    assert result.staleness == 3.0
    assert query.statistics().staleness_seconds_mean == 3.0


@pytest.mark.parametrize(
    ("semantics", "starts", "missed"), [("append", [10, 20], 1), ("update", [20], 2)]
)
def test_a_slow_reader_of_windows_misses_results_and_no_rows(
    engine: Engine, semantics: Semantics, starts: list[float], missed: int
) -> None:
    query = engine.continuous_query(SUMS, semantics, keep=2)
    for second in (1, 2, 11, 12, 13, 21, 31):
        append(engine, (second, "IBM", 1))
        if second == 12:
            query.evaluate()  # the first window's result waits
    results = query.results()
    assert seconds(*results) == starts
    assert results[0].missed == missed
    assert results[-1].table.to_pylist() == [{"symbol": "IBM", "size": 1}]
    counts = query.statistics()
    assert (counts.results_dropped, counts.results_skipped) == (
        (1, 0) if semantics == "append" else (0, 2)
    )
    check_counts(query)


def test_iterating_takes_result_by_result_as_they_come(engine: Engine) -> None:
    query = engine.continuous_query(SUMS)
    append(engine, (1, "IBM", 1), (11, "IBM", 1), (21, "IBM", 1))
    seen = []
    for result in query:
        seen += seconds(result)
        if len(seen) == 1:
            append(engine, (31, "IBM", 1))  # and its result is in this loop too
    assert seen == [0, 10, 20]
    append(engine, (51, "IBM", 1), (61, "IBM", 1))
    for result in query:
        assert seconds(result) == [30]
        break  # what was not taken waits
    assert seconds(*query.results()) == [40, 50]
    check_counts(query)


def test_a_query_knows_what_it_has_committed_and_what_was_consumed(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT sum(size) AS x FROM tumble(trades, INTERVAL '10 seconds')", keep=3
    )
    assert (query.committed, query.consumed) == (None, None)
    for time in range(0, 60, 10):
        append(engine, (time, "IBM", 1))
        query.evaluate()
    assert (query.committed, query.consumed) == (4, None)
    first = next(iter(query))
    assert (first.number, first.missed, query.consumed) == (2, 2, 2)
    newest = query.latest()
    assert newest is not None
    assert (newest.number, newest.epoch, query.consumed) == (4, None, 4)
    assert query.results() == []
    answer = query.ask()
    assert answer is not None
    assert (answer.number, query.committed, query.consumed) == (None, 4, 4)
    query.close()
    assert (query.committed, query.consumed) == (4, 4)


def test_what_a_callback_or_a_stream_took_was_consumed(engine: Engine) -> None:
    text = "SELECT sum(size) AS x FROM tumble(trades, INTERVAL '10 seconds')"
    found: list[int | None] = []
    called = engine.continuous_query(text, callback=lambda result: found.append(result.number))
    filling = engine.continuous_query(text, into="sums")
    append(engine, (1, "IBM", 1), (11, "IBM", 2), (21, "IBM", 4))
    engine.run(60.0)
    assert found == [0, 1]
    for query in (called, filling):
        assert (query.committed, query.consumed) == (1, 1)


def test_queries_that_share_an_evaluation_have_numbers_of_their_own(engine: Engine) -> None:
    text = "SELECT sum(size) AS x FROM tumble(trades, INTERVAL '10 seconds')"
    one = engine.continuous_query(text)
    append(engine, (1, "IBM", 1), (11, "IBM", 2), (21, "IBM", 4))
    one.evaluate()
    later, latest = (engine.continuous_query(text) for _ in range(2))
    assert (one.committed, later.committed, latest.committed) == (1, None, None)
    append(engine, (31, "IBM", 4), (41, "IBM", 5))
    assert [result.number for result in one.results()] == [0, 1, 2, 3]
    for query in (later, latest):
        assert [result.number for result in query.results()] == [0]


def test_the_latest_result_is_taken_and_older_ones_are_skipped(engine: Engine) -> None:
    query = engine.continuous_query(SUMS)
    assert query.latest() is None
    append(engine, (1, "IBM", 1), (11, "IBM", 2), (21, "IBM", 3))
    latest = query.latest()
    assert latest is not None
    assert seconds(latest) == [10]
    assert latest.missed == 1
    assert query.latest() is None
    assert query.statistics().results_skipped == 1
    check_counts(query)


def test_a_callback_that_fails_is_counted_and_stops_nothing(
    engine: Engine, clock: ManualClock
) -> None:
    seen: list[object] = []

    def fail(result: Result) -> None:
        seen.append(result.window_start)
        if len(seen) == 1:
            raise LookupError("no such chart")

    query = engine.continuous_query(SUMS, callback=fail)
    append(engine, (1, "IBM", 1), (11, "IBM", 1), (21, "IBM", 1))
    assert engine.run(1.0) == 1
    assert len(seen) == 2
    counts = query.statistics()
    assert counts.callback_failures == 1
    assert counts.error == "LookupError('no such chart')"
    assert not query.is_due()
    assert clock.now() == 0.0


def test_a_query_is_due_when_rows_wait_or_the_clock_closes_a_window(
    engine: Engine, clock: ManualClock
) -> None:
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM tumble(trades, INTERVAL '10 seconds', by => arrival)"
    )
    assert not query.is_due()
    append(engine, (1, "IBM", 1))
    clock.advance(2)
    assert (query.is_due(), query.staleness()) == (True, 2.0)
    query.run()
    assert (query.is_due(), query.staleness()) == (False, 0.0)
    clock.advance(9)
    assert (query.is_due(), query.staleness()) == (True, 1.0)
    [result] = query.results()
    assert result.staleness == 1.0
    assert not query.is_due()


def test_a_division_by_zero_takes_its_row_with_it_and_nothing_else(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT symbol, sum(size // (size - 1)) AS n"
        " FROM tumble(trades, INTERVAL '10 seconds') GROUP BY symbol"
    )
    append(engine, (1, "IBM", 1), (2, "HP", 2), (11, "IBM", 2))
    [result] = query.results()
    assert result.table.to_pylist() == [{"symbol": "HP", "n": 2}]
    assert query.statistics().rows_failed == 1


def test_a_closed_query_reads_no_more_and_tells_its_counts(engine: Engine) -> None:
    query = engine.continuous_query(SUMS, name="sums")
    append(engine, (1, "IBM", 1), (11, "IBM", 1))
    query.results()
    query.close()
    query.close()
    assert engine.queries == ()
    assert not query.is_due()
    with pytest.raises(ClosedError):
        query.results()
    assert query.statistics().results_taken == 1
    assert engine.continuous_query(SUMS, name="sums").name == "sums"


def test_a_callback_may_close_its_query(engine: Engine) -> None:
    seen: list[Result] = []
    close: list[Callable[[], None]] = []

    def once(result: Result) -> None:
        seen.append(result)
        close[0]()

    query = engine.continuous_query(SUMS, callback=once)
    close.append(query.close)
    append(engine, (1, "IBM", 1), (11, "IBM", 1), (21, "IBM", 1))
    engine.run(1.0)
    assert len(seen) == 1


def test_news_that_were_not_taken_are_in_the_next_result(engine: Engine) -> None:
    query = engine.continuous_query("SELECT symbol, size FROM trades", "update")
    append(engine, (1, "IBM", 1))
    query.evaluate()
    append(engine, (2, "HP", 2))
    query.evaluate()
    append(engine, (3, "IBM", 3))
    [result] = query.results()
    assert sorted(result.table["symbol"].to_pylist()) == ["HP", "IBM"]
    assert result.missed == 2
    append(engine, (4, "HP", 4))
    assert query.results()[0].table.to_pylist() == [{"symbol": "HP", "size": 4}]


def test_held_results_become_due_by_the_clock(engine: Engine, clock: ManualClock) -> None:
    seen: list[Result] = []
    query = engine.continuous_query(SUMS, emit_every=5, callback=seen.append)
    append(engine, (1, "IBM", 1), (11, "IBM", 1))
    engine.run(1.0)
    clock.advance(1)
    append(engine, (21, "IBM", 1))
    query.evaluate()
    assert not query.is_due()
    clock.advance(4)
    assert query.is_due()
    engine.run(1.0)
    assert seconds(*seen) == [0, 10]


def test_a_closed_query_leaves_nothing_behind_in_duckdb(engine: Engine) -> None:
    def lent() -> int:
        rows = engine._duck.rows("SELECT count(*) FROM duckdb_views()")
        [[prepared]] = engine._duck.rows("SELECT count(*) FROM duckdb_prepared_statements()")
        return int(rows[0][0]) + int(prepared)

    before = lent()
    for text in (
        SUMS,
        "SELECT max(size) AS size FROM landmark(trades)",
        "SELECT symbol FROM trades",
        "SELECT * FROM latest(trades)",
        "SELECT a.size, b.size AS other FROM trades a JOIN latest(trades) b USING (symbol)",
        (
            "SELECT max(a.size) AS size FROM rows(trades, 2, 1) a JOIN rows(trades, 2, 1) b"
            " ON a.symbol = b.symbol"
        ),
    ):
        query = engine.continuous_query(text)
        for second in (1, 11, 21):
            append(engine, (second, "IBM", 1))
            query.results()
        assert lent() > before
        query.close()
        assert lent() == before


@pytest.mark.parametrize(
    "text",
    [
        "SELECT size, count(*) AS n FROM landmark(trades) GROUP BY size",
        "SELECT size, count(*) AS n FROM landmark(trades, INTERVAL '1 second') GROUP BY size",
        "SELECT size, count(*) AS n FROM tumble(trades, INTERVAL '1 second') GROUP BY size",
    ],
)
def test_a_query_that_is_never_asked_holds_a_bounded_number_of_rows(
    engine: Engine, text: str
) -> None:
    query = engine.continuous_query(text, emit="asked")
    held = []
    for number in range(120):
        append(engine, *((number, "IBM", size) for size in range(200)))
        query.evaluate()
        held.append(query.statistics().rows_held)
    assert max(held) <= 10_200  # of 24,000 that came


def test_nan_after_nan_does_not_count_as_a_change(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT symbol, 'nan'::DOUBLE AS x FROM tumble(trades, INTERVAL '10 seconds')",
        emit="changed",
    )
    append(engine, (1, "IBM", 1), (11, "IBM", 1), (21, "IBM", 1))
    assert seconds(*query.results()) == [0]


def test_a_result_that_revises_another_is_given_even_if_it_is_as_the_one_before(
    engine: Engine,
) -> None:
    query = engine.continuous_query(SUMS, emit="changed", allowed_lateness=60)
    append(engine, (1, "IBM", 1), (11, "IBM", 2), (21, "IBM", 2))
    assert [each.table["size"][0].as_py() for each in query.results()] == [1, 2]
    append(engine, (2, "IBM", 1))
    [result] = query.results()
    assert (seconds(result), result.revision) == ([0], 1)
    assert result.table.to_pylist() == [{"symbol": "IBM", "size": 2}]


def test_a_query_says_what_it_is(engine: Engine) -> None:
    with engine.continuous_query(SUMS, "update", name="sums") as query:
        assert repr(query) == "<ContinuousQuery 'sums', update, over trades>"
        assert repr(engine) == "<Engine with 1 streams and 1 queries>"
        assert engine.query("sums") is query
        assert not query.is_closed
    assert query.is_closed


def test_costs_are_measured_although_the_clock_stands_still() -> None:
    watch = ManualClock()
    with Engine(clock=ManualClock()) as real, Engine(clock=ManualClock(), stopwatch=watch) as told:
        for each in (real, told):
            each.sql("CREATE STREAM beats (n BIGINT)")
            query = each.continuous_query("SELECT sum(n) AS n FROM rows(beats, 1, 1)")
            each.append("beats", {"n": [1, 2]})
            assert len(query.results()) == 2
            is_measured = query.cost() > 0 and query.statistics().evaluation_seconds > 0
            assert is_measured == (each is real)
