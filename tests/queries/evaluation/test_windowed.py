"""Sliding windows: which have results, when, how often, and which rows are held."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given as given_that
from hypothesis import settings
from hypothesis import strategies as st

from tests.queries.setting import append, every_way, given, make_streams, revised
from upstream import Engine, ManualClock
from upstream.queries.choices import Way

HOPS = "SELECT sum(x) AS x FROM hop(bids, 20, 10)"
TUMBLES = "SELECT sum(x) AS x FROM tumble(bids, 10)"
ARRIVALS = "SELECT sum(x) AS x FROM tumble(bids, INTERVAL '10 seconds', by => arrival)"
BOTH = (
    "SELECT (SELECT count(*) FROM tumble(bids, 10)) AS bids,"
    " (SELECT count(*) FROM tumble(asks, 10)) AS asks"
)

# Which windows are answered


@every_way
def test_windows_are_closed_by_the_first_row_after_them(engine: Engine, way: Way) -> None:
    # time     -10    0     10    20    30    40
    # rows            1  2    4      8      |
    # windows   [---1+2----)
    #                 [--1+2+4---)
    #                       [---4+8----)
    #                             [---8--------)  is open: 39 is before its end
    query = engine.continuous_query(HOPS, evaluation=way)
    append(engine, "bids", (0, 1), (5, 2), (12, 4), (25, 8))
    assert given(query.results()) == [(-10, 10, 3), (0, 20, 7)]
    append(engine, "bids", (39, 16))
    assert given(query.results()) == [(10, 30, 12)]
    append(engine, "bids", (40, 32))
    assert given(query.results()) == [(20, 40, 24)]


@every_way
def test_only_the_first_of_several_empty_windows_has_a_result(engine: Engine, way: Way) -> None:
    # time    0     10    20    30    40    50    60
    # rows      1      0                       4     |
    # x > 0     1                              4
    query = engine.continuous_query(f"{TUMBLES} WHERE x > 0", evaluation=way)
    append(engine, "bids", (3, 1), (13, 0), (53, 4), (63, 1))
    assert given(query.results()) == [(0, 10, 1), (10, 20, None), (20, 30, None), (50, 60, 4)]
    counts = query.statistics()
    assert (counts.results_due, counts.is_balanced) == (4, True)


@every_way
def test_after_a_gap_only_its_first_empty_window_has_a_result(engine: Engine, way: Way) -> None:
    # time   0  10  20          10^12 10^12+10  10^12+20
    # rows    1                      2             |
    query = engine.continuous_query(HOPS, evaluation=way)
    far = 10**12
    append(engine, "bids", (3, 1))
    append(engine, "bids", (far + 3, 2))
    append(engine, "bids", (far + 20, 4))
    assert given(query.results()) == [
        (-10, 10, 1),
        (0, 20, 1),
        (10, 30, None),
        (far - 10, far + 10, 2),
        (far, far + 20, 2),
    ]


@every_way
def test_times_before_zero_are_windowed_like_others(engine: Engine, way: Way) -> None:
    # time   -40   -30   -20   -10    0
    # rows       1     2           4    |
    query = engine.continuous_query(TUMBLES, evaluation=way)
    append(engine, "bids", (-31, 1), (-30, 2), (-1, 4), (0, 8))
    assert given(query.results()) == [
        (-40, -30, 1),
        (-30, -20, 2),
        (-20, -10, None),
        (-10, 0, 4),
    ]


@every_way
def test_a_window_over_rows_is_given_when_it_is_full(engine: Engine, way: Way) -> None:
    # rows     0  1  2  3  4  5  6
    # windows  [--------)
    #                [--------)
    query = engine.continuous_query("SELECT sum(x) AS x FROM rows(bids, 3, 2)", evaluation=way)
    append(engine, "bids", (9, 1), (1, 2))
    assert query.results() == []
    append(engine, "bids", (5, 4), (5, 8))
    assert given(query.results()) == [(0, 3, 7)]
    append(engine, "bids", (0, 16), (0, 32))
    assert given(query.results()) == [(2, 5, 28)]


@every_way
def test_windows_over_arrival_are_closed_by_the_clock(
    engine: Engine, clock: ManualClock, way: Way
) -> None:
    # clock   0     10    20    30
    # rows     1 2      4    |        the third window is open
    query = engine.continuous_query(ARRIVALS, evaluation=way)
    for moment, x in ((1, 1), (2, 2), (15, 4)):
        clock.set(moment)
        append(engine, "bids", (-moment, x))
    clock.set(19.999)
    assert [each for _, _, each in given(query.results())] == [3]
    clock.set(24)
    [result] = query.results()
    start = datetime(1970, 1, 1, 0, 0, 10)
    assert given([result]) == [(start, start + timedelta(seconds=10), 4)]
    assert result.staleness == 4.0
    clock.set(1_000)  # an hour of silence has one result: the first window without rows
    [result] = query.results()
    start += timedelta(seconds=10)
    assert given([result]) == [(start, start + timedelta(seconds=10), None)]
    assert result.staleness == 970.0
    clock.set(10_000)
    assert query.results() == []


def test_a_row_that_arrives_at_the_end_of_a_window_is_in_the_next(
    engine: Engine, clock: ManualClock
) -> None:
    query = engine.continuous_query(ARRIVALS)
    append(engine, "bids", (0, 1))
    clock.set(10)
    assert [each for _, _, each in given(query.results())] == [1]
    append(engine, "bids", (0, 2))
    clock.set(20)
    assert [each for _, _, each in given(query.results())] == [2]


def test_the_engine_knows_when_the_clock_alone_will_close_a_window(
    engine: Engine, clock: ManualClock
) -> None:
    taken: list[object] = []
    engine.continuous_query(ARRIVALS, callback=lambda result: taken.extend(given([result])))
    append(engine, "bids", (0, 1))
    engine.run(1)
    clock.set(9.5)
    assert engine.run(1) == 0
    clock.set(10)
    assert engine.run(1) == 1
    assert len(taken) == 1
    clock.set(19.5)
    assert engine.run(1) == 0
    clock.set(20)
    assert engine.run(1) == 1  # the next window has no rows, and is told
    assert len(taken) == 2
    clock.set(100)
    assert engine.run(1) == 0


@pytest.mark.parametrize("window", ["tumble", "epochs"])
@pytest.mark.parametrize("is_read", [True, False], ids=["read before", "read after"])
def test_a_stream_without_rows_is_waited_for_since_the_query_was_created(
    engine: Engine, clock: ManualClock, window: str, *, is_read: bool
) -> None:
    sums = (
        f"SELECT sum(b.x) AS x FROM {window}(bids, 10) b LEFT JOIN {window}(asks, 10) a USING (k)"
    )
    query = engine.continuous_query(sums, close_after=5)
    append(engine, "bids", (0, 1), (12, 2))
    if is_read:
        assert query.results() == []
    clock.advance(4)
    assert query.results() == []
    clock.advance(1)
    assert given(query.results()) == [(0, 10, 1), (10, 20, 2)]


@every_way
def test_silence_closes_the_open_slide_and_the_next_windows_as_the_clock_goes_on(
    engine: Engine, clock: ManualClock, way: Way
) -> None:
    # time    -10   0     10    20
    # row           3
    # clock 5: [---3------)            the open slide, of which 10 is the end
    # clock 17:     [---3-------)      3 + 17 = 20
    query = engine.continuous_query(HOPS, evaluation=way, close_after=5)
    append(engine, "bids", (3, 1))
    clock.set(4.9)
    assert query.results() == []
    clock.set(5)
    assert given(query.results()) == [(-10, 10, 1)]
    clock.set(16.9)
    assert query.results() == []
    clock.set(18)
    [result] = query.results()
    assert given([result]) == [(0, 20, 1)]
    assert result.staleness == 1.0
    append(engine, "bids", (15, 2), (22, 4))
    assert query.results() == []
    assert query.statistics().rows_late == 1


@every_way
def test_a_query_over_several_streams_waits_for_the_slowest(engine: Engine, way: Way) -> None:
    # time    0     10    20    30
    # bids      *      *     *     *
    # asks      *   *  |
    query = engine.continuous_query(BOTH, evaluation=way)
    append(engine, "bids", (1,), (11,), (21,), (31,))
    assert query.results() == []
    append(engine, "asks", (2,), (9,))
    assert query.results() == []
    append(engine, "asks", (15,))
    assert given(query.results()) == [(0, 10, [(1, 2)])]
    append(engine, "asks", (35,))
    assert given(query.results()) == [(10, 20, [(1, 1)]), (20, 30, [(1, 0)])]


@every_way
def test_streams_can_be_put_one_after_the_other(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(
        """SELECT sum(x) AS x FROM
           (SELECT x FROM tumble(bids, 10) UNION ALL SELECT x FROM tumble(asks, 10))""",
        evaluation=way,
    )
    append(engine, "bids", (1, 1), (12, 2), (33, 0))
    append(engine, "asks", (25, 4), (39, 0))
    assert given(query.results()) == [(0, 10, 1), (10, 20, 2), (20, 30, 4)]


# Rows that fail


CASTS = "SELECT sum(CAST(note AS INT)) AS x FROM hop(bids, 20, 10)"


@pytest.mark.parametrize("way", ["increments", "measured"])
def test_a_row_that_fails_may_come_late_or_after_many_good_ones(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(CASTS, evaluation=way, allowed_lateness=30)
    append(engine, "bids", (1, 0, "a", "1"), (12, 0, "a", "2"), (20, 0))
    assert revised(query.results()) == [(-10, 0, 1), (0, 0, 3)]
    append(engine, "bids", (13, 0, "a", "bad"), (14, 0, "a", "4"))
    assert revised(query.results()) == [(0, 1, 7)]
    append(engine, "bids", (30, 0))
    assert revised(query.results()) == [(10, 0, 7)]
    assert query.statistics().rows_failed == 1


@every_way
def test_each_result_says_how_many_rows_it_leaves_out(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(CASTS, evaluation=way)
    append(engine, "bids", (1, 0, "a", "1"), (12, 0, "a", "bad"), (35, 0, "a", "4"), (50,))
    results = query.results()
    assert [x for _, _, x in given(results)] == [1, 1, None, 4, 4]
    assert [result.rows_failed for result in results] == [0, 1, 1, 0, 0]
    assert [result.error for result in results] == [None] * 5


@every_way
def test_windows_with_a_row_that_fails_have_an_error_if_that_is_wanted(
    engine: Engine, way: Way
) -> None:
    query = engine.continuous_query(CASTS, evaluation=way, on_error="fail")
    append(engine, "bids", (1, 0, "a", "1"), (12, 0, "a", "bad"), (13, 0, "a", "2"), (35,), (50,))
    results = query.results()
    assert [x for _, _, x in given(results)] == [1, [], [], 1, 1]
    assert [result.rows_failed for result in results] == [0, 1, 1, 0, 0]
    assert [result.error is None for result in results] == [True, False, False, True, True]
    assert results[1].error is not None
    assert results[1].error.startswith("1 row fails: ")
    assert "'bad'" in results[1].error


def test_a_row_that_two_aggregates_fail_on_is_counted_once(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT (SELECT sum(CAST(note AS INT)) FROM tumble(bids, 10)) AS s,"
        " (SELECT max(CAST(note AS INT)) FROM tumble(bids, 10) WHERE x > 0) AS m",
        evaluation="increments",
    )
    append(engine, "bids", (1, 1, "a", "1"), (2, 1, "a", "bad"), (10,))
    [result] = query.results()
    assert given([result]) == [(0, 10, [(1, 1)])]
    assert (result.rows_failed, query.statistics().rows_failed) == (2, 2)  # of two windows


# Rows that come late


@every_way
def test_late_rows_are_dropped_and_counted(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(TUMBLES, evaluation=way)
    append(engine, "bids", (5, 1), (15, 2), (9, 4))
    append(engine, "bids", (8, 8), (25, 16))
    assert given(query.results()) == [(0, 10, 1), (10, 20, 2)]
    assert query.statistics().rows_late == 2


@every_way
def test_a_late_row_that_is_allowed_has_its_windows_answered_again(
    engine: Engine, way: Way
) -> None:
    # time    -10   0     10    20    30
    # rows              1      2    |
    # windows  [-------1--)
    #                [-----1+2---)
    # late                   4           is in [0, 20) and in [10, 30), which is open
    query = engine.continuous_query(HOPS, evaluation=way, allowed_lateness=20)
    append(engine, "bids", (9, 1), (15, 2), (25, 0))
    assert revised(query.results()) == [(-10, 0, 1), (0, 0, 3)]
    append(engine, "bids", (16, 4))
    assert revised(query.results()) == [(0, 1, 7)]
    append(engine, "bids", (8, 8), (9, 16), (30, 0))
    assert revised(query.results()) == [(-10, 1, 25), (0, 2, 31), (10, 0, 6)]
    append(engine, "bids", (9, 32))
    assert query.results() == []
    assert query.statistics().rows_late == 1


@every_way
def test_late_rows_revise_an_empty_result_or_give_a_first_one(engine: Engine, way: Way) -> None:
    # time    0     10    20    30    40    50    60
    # rows      1                               |
    # late             2           4
    query = engine.continuous_query(TUMBLES, evaluation=way, allowed_lateness=60)
    append(engine, "bids", (3, 1), (63, 0))
    assert revised(query.results()) == [(0, 0, 1), (10, 0, None)]
    append(engine, "bids", (15, 2))
    assert revised(query.results()) == [(10, 1, 2), (20, 0, None)]
    append(engine, "bids", (15, 2), (35, 4))
    assert revised(query.results()) == [(10, 2, 4), (30, 0, 4), (40, 0, None)]


@every_way
def test_a_late_row_can_be_older_than_the_first_row(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(TUMBLES, evaluation=way, allowed_lateness=30)
    append(engine, "bids", (33, 1))
    assert query.results() == []
    append(engine, "bids", (5, 2))
    assert revised(query.results()) == [(0, 0, 2), (10, 0, None)]


@every_way
def test_a_late_row_for_a_window_without_an_answer_is_one_of_its_rows(
    engine: Engine, way: Way
) -> None:
    query = engine.continuous_query(TUMBLES, evaluation=way, allowed_lateness=30)
    append(engine, "bids", (5, 1), (15, 2), (6, 4), (25, 0))
    assert revised(query.results()) == [(0, 0, 5), (10, 0, 2)]


@every_way
def test_a_row_that_is_late_for_its_stream_amends_only_what_the_slowest_stream_has_closed(
    engine: Engine, way: Way
) -> None:
    # time    0     10    20    30
    # bids      *      *     *
    # asks      *   |                   [0, 10) was answered, [10, 20) was not
    # late      *      *                of bids
    query = engine.continuous_query(BOTH, evaluation=way, allowed_lateness=30)
    append(engine, "bids", (1,), (11,), (21,))
    append(engine, "asks", (1,), (10,))
    assert revised(query.results()) == [(0, 0, [(1, 1)])]
    append(engine, "bids", (2,), (12,))
    assert revised(query.results()) == [(0, 1, [(2, 1)])]
    append(engine, "asks", (20,))
    assert revised(query.results()) == [(10, 0, [(2, 1)])]


def test_any_lateness_may_be_allowed(engine: Engine) -> None:
    query = engine.continuous_query(TUMBLES, allowed_lateness=1e30)
    append(engine, "bids", (10**9, 1), (3, 2))
    assert given(query.results()) == [(0, 10, 2), (10, 20, None)]


# Against a model


class Windows:
    """What windows of one stream give, with all rows kept and all windows tried."""

    def __init__(self, size: int, slide: int, step: int, lateness: int | None) -> None:
        self.size, self.slide, self.step = size, slide, step
        self.lateness = lateness
        self.rows: list[tuple[int, int]] = []
        self.newest: int | None = None
        self.late = 0
        self.answered: dict[int, tuple[int, int]] = {}  # revision, rows

    def add(self, time: int, x: int) -> None:
        newest = time if self.newest is None else self.newest
        is_behind = time // self.step < newest // self.step
        if is_behind and (self.lateness is None or time < newest - self.lateness):
            self.late += 1
            return
        self.newest = max(newest, time)
        self.rows.append((time, x))

    def poll(self) -> list[tuple[object, ...]]:
        if self.newest is None:
            return []
        found: list[tuple[object, ...]] = []
        first = (min(time for time, _ in self.rows) - self.size) // self.slide
        for window in range(first, self.newest // self.slide + 2):
            start, end = window * self.slide, window * self.slide + self.size
            numbers = [x for time, x in self.rows if start <= time < end]
            slide = self.slide
            follows = any(start - slide <= time < end - slide for time, _ in self.rows)
            revision, count = self.answered.get(window, (-1, 0 if not follows else -1))
            if end <= self.newest and len(numbers) > count:
                self.answered[window] = (revision + 1, len(numbers))
                total = sum(numbers) if numbers else None
                found.append((start, revision + 1, [(len(numbers), total)]))
        return found


@settings(max_examples=10)  # to make two queries takes longer than to ask them for results
@given_that(
    batches=st.lists(
        st.lists(st.tuples(st.integers(-40, 40), st.integers(0, 9)), min_size=1, max_size=5),
        min_size=5,
        max_size=12,
    ),
    window=st.sampled_from([(6, 6), (6, 2), (7, 3), (5, 1)]),
    lateness=st.none() | st.integers(0, 30),
)
def test_windows_are_answered_as_if_all_rows_were_kept(
    batches: list[list[tuple[int, int]]], window: tuple[int, int], lateness: int | None
) -> None:
    size, slide = window
    text = f"SELECT count(*) AS n, sum(x) AS x FROM hop(bids, {size}, {slide})"
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        queries = [
            engine.continuous_query(text, evaluation=way, allowed_lateness=lateness)
            for way in ("increments", "whole")
        ]
        drift = 0
        step = queries[0]._evaluated._plan.split.windows[0].step
        model = Windows(size, slide, step, lateness)
        for batch in batches:
            rows = [(time + drift, x) for time, x in batch]
            drift += 15
            append(engine, "bids", *rows)
            for row in rows:
                model.add(*row)
            expected = model.poll()
            for query in queries:
                assert revised(query.results()) == expected
                assert query.statistics().rows_late == model.late
