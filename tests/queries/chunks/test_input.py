"""One window function reads its stream: what is cut, what is late, and what is taken."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.queries.chunks.grid import FOREVER
from upstream.queries.sql.window_clause import Axis
from upstream.tables.log import Log

from .feed import INSTANTS, Feed, pieces


def test_times_may_be_negative() -> None:
    feed = Feed()
    assert pieces(feed.take(1.0, -25, -11)) == [(-3, [-25]), (-2, [-11])]


def test_what_was_read_is_not_read_again() -> None:
    feed = Feed()
    feed.add(1.0, 1)
    feed.add(2.0, 2)
    assert pieces(feed.read()) == [(0, [1]), (0, [2])]
    assert feed.read() == []
    assert feed.log.stored_rows == 0


def test_what_was_not_taken_is_read_again_and_has_changed_nothing() -> None:
    feed = Feed()
    feed.take(1.0, 5, 12)
    feed.add(2.0, 3, 14, 21)
    for _ in range(3):
        [(_, cut)] = feed.input.waiting()
        assert (pieces([cut]), cut.late) == ([(1, [14]), (2, [21])], 1)
    assert (feed.input.late, feed.progress.newest, feed.input.chunk_rows) == (0, 12, 1)
    assert feed.progress.last_arrival == 1.0
    feed.read()
    assert (feed.input.late, feed.progress.newest, feed.input.chunk_rows) == (1, 21, 2)


def test_each_batch_is_cut_when_the_one_before_was_taken() -> None:
    feed = Feed()
    feed.add(1.0, 25)
    feed.add(2.0, 3)
    assert [cut.late for cut in feed.read()] == [0, 1]


def test_rows_that_are_too_late_are_counted() -> None:
    feed = Feed(lateness=3)
    feed.take(1.0, 12, 9, 8)
    assert feed.input.late == 1
    feed.take(2.0, 1)
    assert feed.input.late == 2


def test_nothing_is_too_late_where_any_lateness_is_allowed() -> None:
    feed = Feed(lateness=FOREVER)
    assert pieces(feed.take(1.0, 1_000, -1_000)) == [(-100, [-1_000]), (100, [1_000])]
    assert feed.input.late == 0


def test_along_rows_they_are_counted_since_the_query_was_made() -> None:
    log = Log()
    log.reader()
    log.add(pa.table({"time": [7, 7]}), 0.0)
    feed = Feed(4, 2, axis=Axis.ROWS, log=log)
    assert pieces(feed.take(1.0, 1, 2, 3)) == [(0, [1, 2]), (1, [3])]
    assert pieces(feed.take(2.0, 9)) == [(1, [9])]


def test_along_arrival_rows_of_a_batch_are_of_one_chunk() -> None:
    feed = Feed(2_000_000, 1_000_000, axis=Axis.ARRIVAL)
    assert pieces(feed.take(1.5, 70, 3)) == [(1, [70, 3])]


def test_rows_for_what_silence_has_closed_are_late() -> None:
    feed = Feed(close_after=5)
    feed.take(0.0, 3)
    feed.take(6.0, 4)
    assert feed.input.late == 1
    assert pieces(feed.take(6.5, 11)) == [(1, [11])]


@pytest.mark.parametrize("polls", [[], [3.0], [4.0, 6.0, 7.0, 9.0]])
def test_what_is_late_does_not_depend_on_when_somebody_looks(polls: list[float]) -> None:
    # clock   0    3    6    9    12
    # rows    1    2         3             close_after = 5: the first three were in time
    #                              4       and the silence from 6 on was 6 long
    feed = Feed(close_after=5)
    for arrival, time in ((0.0, 1), (3.0, 2), (6.0, 3), (12.0, 4)):
        for poll in [each for each in polls if each < arrival]:
            feed.read()
            feed.progress.passed(poll)
            polls = polls[1:]
        feed.add(arrival, time)
    feed.read()
    assert feed.input.late == 1


def test_the_open_chunk_is_that_of_the_newest_row() -> None:
    feed = Feed(20, 10)
    assert feed.input.open_chunk() is None
    feed.take(1.0, 35, 31)
    assert feed.input.open_chunk() == 3


def test_the_newest_complete_chunk_tells_how_many_rows_the_next_will_have() -> None:
    feed = Feed()
    feed.take(1.0, 1, 2)
    assert (feed.input.chunk_rows, feed.input.expected_rows()) == (0, 2)
    feed.take(2.0, 3, 11)
    assert (feed.input.chunk_rows, feed.input.expected_rows()) == (3, 3)
    feed.take(3.0, 12, 21)
    assert (feed.input.chunk_rows, feed.input.expected_rows()) == (2, 2)
    feed.take(4.0, 22, 23)
    assert feed.input.expected_rows() == 3


def test_a_late_chunk_is_not_the_newest_one() -> None:
    feed = Feed(lateness=100)
    feed.take(1.0, 1, 2, 11)
    feed.take(2.0, 3, 3, 3, 3)
    assert feed.input.chunk_rows == 2


def test_times_are_taken_in_the_unit_of_their_column() -> None:
    feed = Feed(1_000_000, 1_000_000, definition=INSTANTS)
    [cut] = feed.take(1.0, *pa.array([500_000, 2_500_000], pa.timestamp("us")).to_pylist())
    assert [chunk for chunk, _ in cut.pieces] == [0, 2]
