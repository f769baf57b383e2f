"""How far time has passed for one input: by rows, by arrival, by silence."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.grid import FOREVER
from upstream.queries.sql.window_clause import Axis

from .feed import INSTANTS, Feed


def test_time_passes_with_the_newest_row_and_not_with_the_clock() -> None:
    feed = Feed()
    assert feed.progress.passed(100.0) is None
    feed.take(100.0, 5, 12, 11)
    assert feed.progress.passed(100.0) == 12
    assert feed.progress.passed(1e9) == 12
    assert feed.progress.passes_at(20) is None


def test_time_may_be_negative() -> None:
    feed = Feed()
    feed.take(1.0, -25, -11)
    assert feed.progress.passed(1.0) == -11


def test_along_rows_time_is_how_many_came() -> None:
    feed = Feed(4, 2, axis=Axis.ROWS)
    feed.take(1.0, 1, 2, 3)
    assert feed.progress.passed(1.0) == 3
    assert feed.progress.passes_at(4) is None


def test_along_arrival_time_passes_with_the_clock() -> None:
    feed = Feed(2_000_000, 1_000_000, axis=Axis.ARRIVAL)
    assert (feed.progress.passed(100.0), feed.progress.passes_at(10)) == (100_000_000, 0.000_01)
    feed.take(1.5, 70, 3)
    assert feed.progress.passed(1.5) == 1_500_000
    assert feed.progress.passed(4.0) == 4_000_000
    assert feed.progress.passes_at(3_000_000) == 3.0
    assert feed.progress.passed_at(3_000_000, 4.0) == 3.0


def test_before_the_first_row_no_time_passes_and_no_end_is_predicted() -> None:
    feed = Feed(10, 10)
    assert (feed.progress.passed(100.0), feed.progress.passes_at(10)) == (None, None)


def test_a_stream_that_never_begins_is_not_waited_for_after_silence() -> None:
    feed = Feed(10, 10, close_after=5, since=2.0)
    assert feed.progress.passed(6.9) is None
    assert feed.progress.passes_at(10) == 7.0
    assert feed.progress.passed(7.0) == FOREVER
    feed.take(8.0, 3)
    assert feed.progress.passed(8.0) == 3


def test_rows_that_are_all_late_do_not_break_a_silence() -> None:
    feed = Feed(60, 60, close_after=1)
    feed.take(0.0, 10)
    assert feed.progress.passed(2.0) == 60
    for moment in (3.0, 4.5, 6.0):
        [cut] = feed.take(moment, 20)
        assert (cut.late, feed.progress.passed(moment + 1.5)) == (1, 60)
    assert feed.input.late == 3


def test_a_window_was_closed_by_the_batch_that_first_passed_its_end() -> None:
    feed = Feed()
    feed.add(1.0, 5)
    feed.add(2.0, 15)
    feed.add(3.0, 35)
    feed.read()
    assert [feed.progress.passed_at(end, 9.0) for end in (10, 20, 30)] == [2.0, 3.0, 3.0]


@given(
    batches=st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=3), min_size=1, max_size=20),
    window=st.sampled_from([(10, 10), (7, 3), (20, 5), (2, 9)]),
    before=st.integers(0, 60),
)
def test_forgetting_changes_no_moment_of_later_ends(
    batches: list[list[int]], window: tuple[int, int], before: int
) -> None:
    size, slide = window
    feed, newest, passed = Feed(size, slide), -1, []
    for moment, times in enumerate(batches):
        feed.take(float(moment), *times)
        newest = max(newest, *times)
        passed.append(newest)
    ends = [start + size for start in range(-3 * slide - size, 80, slide) if start % slide == 0]
    expected = {
        end: next(float(number) for number, each in enumerate(passed) if each >= end)
        for end in ends
        if passed[0] < end <= newest
    }
    assert {end: feed.progress.passed_at(end, 99.0) for end in expected} == expected
    feed.progress.forget(before)
    for end, since in expected.items():
        if end >= before:
            assert feed.progress.passed_at(end, 99.0) == since


def test_moments_that_are_not_asked_for_are_released() -> None:
    feed = Feed()
    for number in range(100):
        feed.take(float(number), 10 * number)
        feed.progress.forget(10 * number)
    assert len(feed.progress.closings) <= 2


def test_a_moment_is_kept_for_each_batch_that_closes_a_window() -> None:
    feed = Feed(1_000, 1_000)
    for number in range(100):
        feed.take(float(number), number)
    assert len(feed.progress.closings) == 1


# Silence


def test_after_silence_the_open_slide_is_over_and_then_time_goes_on_with_the_clock() -> None:
    # clock    0   1   2   3   4   5   6 ...  8 ... 28 ...
    # row      3
    # passed   3   3   3   3   3   10  10    11    31       close_after = 5
    feed = Feed(20, 10, close_after=5)
    feed.take(0.0, 3)
    assert [feed.progress.passed(now) for now in (0, 4.9)] == [3, 3]
    assert [feed.progress.passed(now) for now in (5, 6, 8, 28)] == [10, 10, 11, 31]


@pytest.mark.parametrize(
    ("size", "slide", "row", "end"),
    [
        (10, 10, 3, 10),
        (10, 10, 10, 20),
        (20, 10, 13, 20),
        (15, 10, 3, 5),  # windows end at 5, 15, 25
        (15, 10, 5, 15),
        (10, 10, -3, 0),
        (3, 10, 5, 13),  # in no window; the next is [10, 13)
    ],
)
def test_the_open_slide_ends_where_the_next_window_does(
    size: int, slide: int, row: int, end: int
) -> None:
    feed = Feed(size, slide, close_after=1)
    feed.take(0.0, row)
    assert feed.progress.passed(1.0) == end
    assert feed.progress.passes_at(end) == 1.0


def test_a_row_after_silence_does_not_take_time_back() -> None:
    feed = Feed(close_after=5)
    feed.take(0.0, 3)
    assert feed.progress.passed(20.0) == 23
    feed.take(21.0, 21)  # in the chunk that is open, and behind
    assert feed.input.late == 0
    assert feed.progress.passed(21.0) == 24  # at 21 the silence had gone on for 21


def test_silence_is_measured_in_the_unit_of_the_time_column() -> None:
    minute = 60_000_000
    feed = Feed(minute, minute, close_after=5, definition=INSTANTS)
    epoch = datetime(1970, 1, 1)
    feed.take(0.0, epoch + timedelta(seconds=50))
    assert feed.progress.passed(5.0) == minute
    assert feed.progress.passes_at(2 * minute) == 70.0
    assert feed.progress.passed(70.0) == 2 * minute


@given(
    start=st.one_of(st.floats(0, 2), st.floats(1.7e9, 1.8e9)),
    close_after=st.floats(0, 10),
    row=st.integers(-(10**16), 10**16),
    windows=st.integers(0, 50),
)
def test_time_has_passed_at_the_predicted_moment(
    start: float, close_after: float, row: int, windows: int
) -> None:
    feed = Feed(7_000_000, 3_000_000, close_after=close_after, definition=INSTANTS)
    feed.take(start, row)
    end = (row // 3_000_000 + 3 + windows) * 3_000_000 + 1_000_000
    moment = feed.progress.passes_at(end)
    assert moment is not None
    passed = feed.progress.passed(moment)
    assert passed is not None
    assert passed >= end
