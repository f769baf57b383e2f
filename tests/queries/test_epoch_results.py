"""Results of epochs: their order, what is asked for, rows that fail, types, and filled streams."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.queries.setting import append, every_way, rows_of
from upstream import ContinuousQuery, Engine, ManualClock
from upstream.queries import Semantics
from upstream.queries.choices import Way

OUTER = """SELECT a.x, b.x AS y FROM epochs(bids, 10, keep => 2) AS a
           FULL JOIN epochs(asks, 10, keep => 3) AS b ON a.k = b.k"""


@pytest.fixture
def engine(shared_engine: Engine) -> Iterator[Engine]:
    yield shared_engine
    for query in shared_engine.queries:
        query.close()


def found(query: ContinuousQuery) -> list[tuple[int | None, list[tuple[object, ...]]]]:
    return [(each.epoch, rows_of(each)) for each in query.results()]


def asked(query: ContinuousQuery) -> tuple[int | None, list[tuple[object, ...]]]:
    answer = query.ask()
    assert answer is not None
    return answer.epoch, rows_of(answer)


# Order


@pytest.mark.parametrize("semantics", ["append", "update"])
def test_epochs_are_in_the_order_of_their_numbers_even_if_their_times_descend(
    engine: Engine, semantics: Semantics
) -> None:
    query = engine.continuous_query("SELECT x FROM epochs(bids, rows => 1)", semantics)
    taken = []
    for number, time in enumerate((30, 10, 20)):
        append(engine, "bids", (time, number))
        taken += found(query)
    assert taken == [(0, [(0,)]), (1, [(1,)]), (2, [(2,)])]
    for number, time in enumerate((9, 8, 7)):
        append(engine, "bids", (time, number))
        query.evaluate()
    latest = query.latest()
    assert latest is not None
    assert latest.epoch == 5


def test_numbers_of_results_have_no_gaps_where_epochs_do(engine: Engine) -> None:
    query = engine.continuous_query("SELECT count(*) AS n FROM epochs(bids, 10)")
    append(engine, "bids", (1,), (2,), (95,), (1_000_000,))
    results = query.results()
    assert [(each.number, each.epoch) for each in results] == [(0, 0), (1, 1), (2, 9), (3, 10)]


def test_only_changed_results_are_given(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM epochs(bids, rows => 2, keep => 2)", emit="changed"
    )
    append(engine, "bids", *[(time,) for time in range(9)])
    assert found(query) == [(0, [(2,)]), (1, [(4,)])]
    assert query.statistics().results_unchanged == 2


def test_results_come_no_more_often_than_asked_for() -> None:
    clock = ManualClock()
    with Engine(clock=clock) as engine:
        engine.sql("CREATE STREAM s (t BIGINT, v BIGINT) TIME (t)")
        query = engine.continuous_query("SELECT v FROM epochs(s, 10)", emit_every=3.0)
        taken = []
        for second in range(8):
            engine.append("s", {"t": [10 * second], "v": [second]})
            taken += found(query)
            clock.advance(1)
        assert taken == [(0, [(0,)]), (3, [(3,)]), (6, [(6,)])]


def test_an_epoch_that_is_asked_for_knows_the_partners_in_epochs_that_were_not(
    engine: Engine,
) -> None:
    # epochs   |0 |1 |2 |3 |4
    # bids      a  b        z     b and c have their partners in epoch 2
    # asks            b,c
    query = engine.continuous_query(OUTER, emit="asked")
    append(engine, "bids", (0, 1, "a"), (10, 2, "b"))
    append(engine, "asks", (0, 3, "d"))
    assert asked(query) == (-1, [])
    append(engine, "bids", (20, 4, "c"), (50, 5, "z"))
    append(engine, "asks", (20, 6, "b"), (21, 7, "c"), (50, 8, "z"))
    assert asked(query) == (4, [])  # the rows of asks had partners


# Rows that fail


@every_way
def test_rows_that_fail_are_left_out_of_each_epoch_that_keeps_them(
    engine: Engine, way: Way
) -> None:
    query = engine.continuous_query(
        "SELECT sum(note::INT) AS n, max(window_end) AS e FROM epochs(bids, rows => 2, keep => 2)",
        evaluation=way,
    )
    notes = ["1", "2", "x", "4", "5", "6", "7", "8"]
    append(engine, "bids", *[(time, 0, "a", note) for time, note in enumerate(notes)])
    results = query.results()
    assert [rows_of(each) for each in results] == [[(3, 1)], [(7, 3)], [(15, 5)], [(26, 7)]]
    assert [each.rows_failed for each in results] == [0, 1, 1, 0]


def test_an_epoch_with_a_row_that_fails_is_an_error_if_that_is_asked_for(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT note::INT AS n FROM epochs(bids, punctuation => x = 0)", on_error="fail"
    )
    append(engine, "bids", (0, 1, "a", "x"), (1, 0), (2, 0))
    first, second = query.results()
    assert first.error is not None
    assert first.error.startswith("1 row fails: ")
    assert (second.error, rows_of(second)) == (None, [(1,)])


def test_a_row_on_which_the_punctuation_fails_is_in_no_epoch(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM epochs(bids, punctuation => note::INT = 0)"
    )
    append(engine, "bids", (0, 1, "a", "1"), (1, 1, "a", "x"), (2, 1, "a", "0"))
    [result] = query.results()
    assert (rows_of(result), result.rows_failed) == ([(2,)], 1)
    assert query.statistics().rows_failed == 1


# Times


@pytest.mark.parametrize(
    ("kind", "length", "times", "starts"),
    [
        ("DATE", "INTERVAL '7 days'", [date(1970, 1, d) for d in (1, 9)], [date(1970, 1, 1)]),
        ("DOUBLE", "2.5", [0.5, 2.0, 2.5], [0.0]),
        ("INTEGER", "7, offset => 3", [-4, 2, 3], [-4]),
        (
            "TIMESTAMP",
            "INTERVAL '1 month', zone => 'Europe/Berlin'",
            [datetime(2024, 2, 29, 23, 30), datetime(2024, 3, 31, 22, 0)],
            [datetime(2024, 2, 29, 23)],
        ),
    ],
    ids=["date", "double", "integer", "month"],
)
def test_epochs_by_time_have_bounds_in_the_type_of_the_time(
    kind: str, length: str, times: list[object], starts: list[object]
) -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql(f"CREATE STREAM s (t {kind}, v BIGINT) TIME (t)")
        query = engine.continuous_query(
            f"""SELECT x.window_start AS s, count(*) AS n FROM epochs(s, {length}, keep => 2) AS x
                JOIN epochs(s, {length}) AS y USING (v) GROUP BY ALL"""
        )
        engine.append("s", {"t": times, "v": [1] * len(times)})
        [result] = query.results()
        count = len(times) - 1
        assert rows_of(result) == [(starts[0], count * count)]
        assert result.window_start == starts[0]


def test_streams_without_time_have_epochs_by_arrival_bounded_by_it() -> None:
    clock = ManualClock()
    with Engine(clock=clock) as engine:
        engine.sql("CREATE STREAM s (v BIGINT)")
        in_order = engine.continuous_query("SELECT window_end AS e FROM epochs(s, rows => 2)")
        by_arrival = engine.continuous_query(
            "SELECT v FROM epochs(s, INTERVAL '2 seconds', by => arrival)"
        )
        for value in range(4):
            engine.append("s", {"v": [value]})
            clock.advance(1)
        zero = datetime(1970, 1, 1)
        [first, second] = in_order.results()
        assert (first.window_start, first.window_end) == (zero, zero + timedelta(seconds=1))
        assert rows_of(second) == [(zero + timedelta(seconds=3),)] * 2
        assert found(by_arrival) == [(0, [(0,), (1,)]), (1, [(2,), (3,)])]


# Other relations beside them, and streams that queries fill


def test_an_as_of_join_is_over_the_buffered_chunks(engine: Engine) -> None:
    query = engine.continuous_query(
        """SELECT a.time AS t, b.time AS u FROM epochs(bids, 10, keep => 2) AS a
           ASOF JOIN epochs(asks, 10, keep => 2) AS b ON a.k = b.k AND a.time >= b.time"""
    )
    for epoch in range(3):
        append(engine, "bids", (10 * epoch + 5,))
        append(engine, "asks", (10 * epoch,), (10 * epoch + 3,), (10 * epoch + 6,))
    assert found(query) == [(0, [(5, 3)]), (1, [(15, 13), (5, 3)])]


def test_epochs_fill_a_stream_and_are_read_from_it(engine: Engine) -> None:
    engine.sql(
        """CREATE STREAM pairs KEY (k) TIME (time) AS
           SELECT a.time, a.k, a.x, b.x AS y FROM epochs(bids, 10, keep => 2) AS a
           JOIN epochs(asks, 10, keep => 2) AS b ON a.x = b.x"""
    )
    with closing(engine.query("pairs")) as filler:
        query = engine.continuous_query(
            "SELECT epoch AS e, count(*) AS n, sum(x) AS x FROM epochs(pairs, rows => 3) GROUP BY 1"
        )
        for epoch in range(6):
            append(engine, "bids", (10 * epoch, epoch % 2))
            append(engine, "asks", (10 * epoch, 1), (10 * epoch + 1, 0))
        # 1 pair in epoch 0, and 3 in each of the four after it
        answers = found(query)
        assert [epoch for epoch, _ in answers] == [0, 1, 2, 3]
        assert sum(rows[0][2] for _, rows in answers) == 6  # type: ignore[misc]
        assert filler.statistics().rows_appended == 13
        query.close()
    engine.sql("DROP STREAM pairs")


def test_epochs_of_times_with_a_zone_are_those_of_the_moments() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (t TIMESTAMPTZ, v BIGINT) TIME (t)")
        query = engine.continuous_query("SELECT v FROM epochs(s, INTERVAL '1 hour')")
        moments = [datetime(2024, 1, 1, hour, tzinfo=UTC) for hour in (0, 1)]
        engine.append("s", {"t": moments, "v": [1, 2]})
        [result] = query.results()
        assert (rows_of(result), result.window_start) == ([(1,)], moments[0])
