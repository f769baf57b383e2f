"""Up to where time has passed for one window function: by rows, by arrival, by silence."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.cutting import Cut
from upstream.queries.chunks.window_input import FOREVER, WindowInput
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.log import Log

SCHEMA = pa.schema([("time", pa.int64())])
DEFINITION = StreamDefinition("s", SCHEMA, (), "time")


class Feed:
    """A log, and a window function that reads it."""

    def __init__(
        self,
        size: int = 10,
        slide: int = 10,
        *,
        axis: Axis = Axis.SOURCE,
        kind: WindowKind = WindowKind.HOP,
        lateness: int | None = None,
        close_after: float | None = None,
        definition: StreamDefinition = DEFINITION,
    ) -> None:
        self.log = Log()
        clause = WindowClause(kind, "s", axis, size, slide)
        self.input = WindowInput(
            clause, definition, self.log.reader(), lateness=lateness, close_after=close_after
        )

    def add(self, arrival: float, *times: object) -> None:
        """Let rows arrive, and nobody look at them yet."""
        self.log.add(pa.table({"time": times}, self.input._definition.schema), arrival)

    def read(self, now: float) -> list[Cut]:
        return list(self.input.take_in(now))

    def take(self, arrival: float, *times: object) -> list[Cut]:
        """Let rows arrive, and read them at once."""
        self.add(arrival, *times)
        return self.read(arrival)


def steps(cuts: Iterable[Cut]) -> list[tuple[int, list[int]]]:
    return [(step, rows["time"].to_pylist()) for cut in cuts for step, rows in cut.pieces]


def test_time_passes_with_the_newest_row_and_not_with_the_clock() -> None:
    feed = Feed()
    assert feed.input.passed(100.0) is None
    feed.take(100.0, 5, 12, 11)
    assert feed.input.passed(100.0) == 12
    assert feed.input.passed(1e9) == 12
    assert feed.input.passes_at(20) is None


def test_time_may_be_negative() -> None:
    feed = Feed()
    assert steps(feed.take(1.0, -25, -11)) == [(-3, [-25]), (-2, [-11])]
    assert feed.input.passed(1.0) == -11


def test_what_was_read_is_not_read_again() -> None:
    feed = Feed()
    feed.add(1.0, 1)
    feed.add(2.0, 2)
    assert steps(feed.read(3.0)) == [(0, [1]), (0, [2])]
    assert feed.read(4.0) == []
    assert feed.log.stored_rows == 0


def test_rows_that_are_too_late_are_counted() -> None:
    feed = Feed(lateness=3)
    feed.take(1.0, 12, 9, 8)
    assert feed.input.late == 1
    feed.take(2.0, 1)
    assert feed.input.late == 2


def test_along_rows_time_is_how_many_came_since_the_query_was_made() -> None:
    log = Log()
    log.reader()
    log.add(pa.table({"time": [7, 7]}), 0.0)
    clause = WindowClause(WindowKind.ROWS, "s", Axis.ROWS, 4, 2)
    window_input = WindowInput(clause, DEFINITION, log.reader())
    log.add(pa.table({"time": [1, 2, 3]}), 1.0)
    assert steps(window_input.take_in(1.0)) == [(0, [1, 2]), (1, [3])]
    assert window_input.passed(1.0) == 3
    assert window_input.passes_at(4) is None


def test_along_arrival_time_passes_with_the_clock() -> None:
    feed = Feed(2_000_000, 1_000_000, axis=Axis.ARRIVAL)
    assert steps(feed.take(1.5, 70, 3)) == [(1, [70, 3])]
    assert feed.input.passed(1.5) == 1_500_000
    assert feed.input.passed(4.0) == 4_000_000
    assert feed.input.passes_at(3_000_000) == 3.0
    assert feed.input.passed_at(3_000_000, 4.0) == 3.0


def test_before_the_first_row_no_time_passes_and_none_is_foretold() -> None:
    feed = Feed(10, 10)
    assert (feed.input.passed(100.0), feed.input.passes_at(10)) == (None, None)


def test_a_stream_that_never_begins_is_not_waited_for_after_silence() -> None:
    feed = Feed(10, 10, close_after=5)
    assert feed.input.passed(4.9) is None
    assert feed.input.passes_at(10) == 5.0
    assert feed.input.passed(5.0) == FOREVER
    feed.take(6.0, 3)
    assert feed.input.passed(6.0) == 3


def test_along_arrival_time_passes_before_the_first_row_too() -> None:
    feed = Feed(10, 10, axis=Axis.ARRIVAL)
    assert (feed.input.passed(100.0), feed.input.passes_at(10)) == (100_000_000, 0.000_01)


def test_rows_that_are_all_late_do_not_break_a_silence() -> None:
    feed = Feed(60, 60, close_after=1)
    feed.take(0.0, 10)
    assert feed.input.passed(2.0) == 60
    for moment in (3.0, 4.5, 6.0):
        [cut] = feed.take(moment, 20)
        assert (cut.late, feed.input.passed(moment + 1.5)) == (1, 60)
    assert feed.input.late == 3


def test_a_window_was_closed_by_the_batch_that_first_passed_its_end() -> None:
    feed = Feed()
    feed.add(1.0, 5)
    feed.add(2.0, 15)
    feed.add(3.0, 35)
    feed.read(9.0)
    assert [feed.input.passed_at(end, 9.0) for end in (10, 20, 30)] == [2.0, 3.0, 3.0]


# Silence


def test_after_silence_the_open_slide_is_over_and_then_time_goes_on_with_the_clock() -> None:
    # clock    0   1   2   3   4   5   6 ...  8 ... 28 ...
    # row      3
    # passed   3   3   3   3   3   10  10    11    31       close_after = 5
    feed = Feed(20, 10, close_after=5)
    feed.take(0.0, 3)
    assert [feed.input.passed(now) for now in (0, 4.9)] == [3, 3]
    assert [feed.input.passed(now) for now in (5, 6, 8, 28)] == [10, 10, 11, 31]


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
    assert feed.input.passed(1.0) == end
    assert feed.input.passes_at(end) == 1.0


def test_rows_for_what_silence_has_closed_are_late() -> None:
    feed = Feed(close_after=5)
    feed.take(0.0, 3)
    feed.take(6.0, 4)
    assert feed.input.late == 1
    assert steps(feed.take(6.5, 11)) == [(1, [11])]


@pytest.mark.parametrize("polls", [[], [3.0], [4.0, 6.0, 7.0, 9.0]])
def test_what_is_late_does_not_depend_on_when_somebody_looks(polls: list[float]) -> None:
    # clock   0    3    6    9    12
    # rows    1    2         3             close_after = 5: the first three were in time
    #                              4       and the silence from 6 on was 6 long
    feed = Feed(close_after=5)
    for arrival, time in ((0.0, 1), (3.0, 2), (6.0, 3), (12.0, 4)):
        for poll in [each for each in polls if each < arrival]:
            feed.read(poll)
            polls = polls[1:]
        feed.add(arrival, time)
    feed.read(13.0)
    assert feed.input.late == 1


def test_a_row_after_silence_does_not_take_time_back() -> None:
    feed = Feed(close_after=5)
    feed.take(0.0, 3)
    assert feed.input.passed(20.0) == 23
    feed.take(21.0, 21)  # in the step that is open, and behind
    assert feed.input.late == 0
    assert feed.input.passed(21.0) == 24  # at 21 the silence had gone on for 21


def test_silence_is_measured_in_the_unit_of_the_time_column() -> None:
    definition = StreamDefinition("s", pa.schema([("time", pa.timestamp("us"))]), (), "time")
    minute = 60_000_000
    feed = Feed(minute, minute, close_after=5, definition=definition)
    epoch = datetime(1970, 1, 1)
    feed.take(0.0, epoch + timedelta(seconds=50))
    assert feed.input.passed(5.0) == minute
    assert feed.input.passes_at(2 * minute) == 70.0
    assert feed.input.passed(70.0) == 2 * minute


@given(
    start=st.one_of(st.floats(0, 2), st.floats(1.7e9, 1.8e9)),
    close_after=st.floats(0, 10),
    row=st.integers(-(10**16), 10**16),
    windows=st.integers(0, 50),
)
def test_time_has_passed_at_the_moment_that_was_foretold(
    start: float, close_after: float, row: int, windows: int
) -> None:
    definition = StreamDefinition("s", pa.schema([("time", pa.timestamp("us"))]), (), "time")
    feed = Feed(7_000_000, 3_000_000, close_after=close_after, definition=definition)
    feed.take(start, row)
    end = (row // 3_000_000 + 3 + windows) * 3_000_000 + 1_000_000
    moment = feed.input.passes_at(end)
    assert moment is not None
    passed = feed.input.passed(moment)
    assert passed is not None
    assert passed >= end


def test_the_newest_complete_step_tells_how_many_rows_the_next_will_have() -> None:
    feed = Feed()
    feed.take(1.0, 1, 2)
    feed.take(2.0, 3, 11)
    assert feed.input.step_rows == 3
    feed.take(3.0, 12, 21)
    assert feed.input.step_rows == 2


def test_nothing_is_too_late_for_a_landmark() -> None:
    feed = Feed(0, 10, kind=WindowKind.LANDMARK)
    assert steps(feed.take(1.0, 1_000, -1_000)) == [(-100, [-1_000]), (100, [1_000])]
    assert feed.input.late == 0
