"""The inputs of a query are read batch by batch: what is cut, late, taken, and held by chunk."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.queries.chunks.grid import FOREVER
from upstream.queries.chunks.reading import Inputs, Reading
from upstream.queries.chunks.walk import Walk
from upstream.queries.chunks.windows import Schedule, Windows
from upstream.queries.sql.window_clause import Axis
from upstream.tables.log import Log

from .feed import DEFINITION, INSTANTS, Feed, pieces


def test_times_may_be_negative() -> None:
    feed = Feed()
    assert pieces(feed.take(1.0, -25, -11)) == [(-3, [-25]), (-2, [-11])]


def test_rows_are_read_once() -> None:
    feed = Feed()
    feed.add(1.0, 1)
    feed.add(2.0, 2)
    assert pieces(feed.read()) == [(0, [1]), (0, [2])]
    assert feed.read() == []
    assert feed.log.stored_rows == 0


def test_a_batch_that_was_not_taken_changes_nothing_and_is_read_again() -> None:
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
def test_lateness_does_not_depend_on_when_the_input_is_read(polls: list[float]) -> None:
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


# How far time has got for several inputs


def test_time_has_passed_for_all_when_it_has_for_the_slowest() -> None:
    one, other = Feed(), Feed()
    both = Inputs([one.input, other.input])
    one.take(1.0, 25)
    assert Inputs([one.input]).passed(9.0) == 2
    assert both.passed(9.0) is None
    other.take(4.0, 12)
    assert both.passed(9.0) == 1
    assert both.passed_at(1, 9.0) == 4.0


def test_silence_passes_time_for_all_inputs_once_the_last_is_silent() -> None:
    one, other = Feed(close_after=5), Feed(close_after=5)
    both = Inputs([one.input, other.input])
    one.take(1.0, 3)
    other.take(2.0, 4)
    assert (both.passes_by_clock, both.passes_at(1)) == (True, 7.0)
    with_rows = Inputs([one.input, other.input, Feed().input])
    assert (with_rows.passes_by_clock, with_rows.passes_at(1)) == (False, None)
    one.take(3.0, 11)
    assert both.passes_at(1) == 7.0
    assert (both.passed(6.9), both.passed(7.0)) == (0, 1)


def test_a_stream_that_never_began_holds_up_no_other() -> None:
    one, never = Feed(), Feed(close_after=5)
    one.take(1.0, 25)
    both = Inputs([one.input, never.input])
    assert (both.passed(4.0), both.passed(5.0)) == (None, 2)
    assert both.passed_at(1, 5.0) == 5.0


def test_times_that_were_passed_are_forgotten_for_all() -> None:
    one, other = Feed(), Feed()
    both = Inputs([one.input, other.input])
    for chunk in range(300):
        for each in (one, other):
            each.take(float(chunk), 10 * chunk)
        both.forget_times(chunk)
        assert max(len(each.progress.closings) for each in (one, other)) <= 257
    assert len(one.progress.closings) < 100


# Rows by chunk


class Read:
    """Two inputs, and the walk over their windows. All chunks are ten long."""

    def __init__(
        self, *windows: Windows, lateness: int | None = None, keeps_rows: bool = True
    ) -> None:
        several = windows or (Windows(1, 1), Windows(1, 1))
        self.feeds = [Feed(lateness=lateness) for _ in several]
        self.reading = Reading(
            [feed.input for feed in self.feeds],
            [DEFINITION.schema] * len(several),
            keeps_rows=keeps_rows,
            lateness=lateness,
        )
        self.walk = Walk(Schedule(several), self.reading.occupied)

    def add(self, number: int, arrival: float, *times: int) -> None:
        self.feeds[number].add(arrival, *times)

    def late_rows(self) -> int:
        """Return how many rows arrived too late."""
        return sum(each.late for each in self.reading.inputs)

    def read(self, now: float = 9.0) -> bool:
        """Read what waits, and pass the windows that have ended."""
        has_rows = self.reading.read(self.walk)
        passed = self.reading.passed(now)
        self.walk.begin(passed)
        return has_rows

    def pass_windows(self, now: float = 9.0) -> list[int]:
        passed = self.reading.passed(now)
        assert passed is not None
        due, _ = self.walk.due(passed, 100)
        self.walk.count([each.end for each in due])
        return [each.end for each in due]

    def held(self, number: int) -> list[int]:
        times: list[int] = self.reading.rows[number].between(-99, 99)["time"].to_pylist()
        return times


def test_rows_are_held_by_chunk_with_their_arrival() -> None:
    read = Read()
    assert not read.read()
    read.add(0, 1.0, 5, 12)
    read.add(1, 2.0, 7)
    read.add(0, 3.0, 13)
    assert read.read()
    assert not read.read()
    assert (read.held(0), read.held(1)) == ([5, 12, 13], [7])
    assert list(read.reading.occupied[0].between(-9, 9)) == [(0, 1.0), (1, 1.0)]
    assert read.reading.held_rows() == 4


def test_time_has_passed_when_it_has_for_all_inputs() -> None:
    read = Read()
    read.add(0, 1.0, 35)
    read.read()
    assert read.reading.passed(9.0) is None
    read.add(1, 1.0, 17)
    read.read()
    assert (read.reading.passed(9.0), read.reading.grid.start_of(3)) == (1, 30)


def test_a_batch_is_taken_as_a_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Read()
    read.add(0, 1.0, 5)
    read.add(0, 2.0, 6)
    read.add(1, 3.0, 7)
    cut, calls = read.feeds[0].input._cuts.cut, 0

    def interrupted(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return cut(*arguments)  # type: ignore[arg-type]  # as it was called

    with monkeypatch.context() as patch:
        patch.setattr(type(read.feeds[0].input._cuts), "cut", lambda _, *each: interrupted(*each))
        with pytest.raises(KeyboardInterrupt):
            read.read()
    assert (read.held(0), read.held(1), read.late_rows()) == ([5], [], 0)
    assert read.read()
    assert (read.held(0), read.held(1)) == ([5, 6], [7])


def with_an_input_behind() -> Read:
    """Return inputs of which one went on without the other, to chunk 3; chunk 0 is forgotten."""
    read = Read(lateness=1_000)
    read.feeds[1].progress.close_after = 1.0
    read.add(0, 1.0, 5, 15, 25, 35)
    read.read()
    read.pass_windows()
    read.reading.forget([1, 1], 3)
    return read


def test_rows_behind_what_the_others_went_on_without_are_late() -> None:
    # chunks   |0 |1 |2 |3 |
    # one        *  *  *  *     windows before chunk 3 are passed
    # other               *
    #              *            is late for its window although it is the newest of its stream
    read = Read()
    other = read.feeds[1].progress
    other.close_after = 1.0
    read.add(0, 1.0, 5, 15, 25, 35)
    read.read()
    assert read.pass_windows() == [1, 2, 3]
    read.add(1, 9.0, 15)
    read.read()
    assert (read.held(1), read.late_rows()) == ([], 1)
    read.add(1, 9.0, 35)
    read.read()
    assert (read.held(1), read.late_rows()) == ([35], 1)


def test_such_rows_amend_windows_that_are_not_forgotten_where_they_may_be_late() -> None:
    read = with_an_input_behind()
    read.add(1, 9.0, 15)
    read.read()
    assert (read.held(1), read.late_rows()) == ([15], 0)
    due, _ = read.walk.due(3, 9)
    assert [(each.end, each.amended) for each in due] == [(2, 9.0)]


def test_a_row_whose_chunk_is_forgotten_is_late_whatever_is_allowed() -> None:
    read = with_an_input_behind()
    read.add(1, 9.0, 15)
    read.add(1, 9.0, 5)
    read.read()
    assert (read.held(1), read.late_rows()) == ([15], 1)


def test_late_rows_amend_their_windows() -> None:
    read = Read(Windows(2, 1), lateness=15)
    read.add(0, 1.0, 5, 25)
    read.read()
    assert read.pass_windows() == [1, 2]
    read.add(0, 4.0, 12)
    read.read()
    assert read.pass_windows() == [2]
    assert read.held(0) == [5, 12, 25]


def test_rows_between_windows_are_not_held() -> None:
    # chunks   |0 |1 |2 |3 |4 |
    # windows  [--)     [--)        size 1, slide 3
    read = Read(Windows(1, 3))
    read.add(0, 1.0, 5, 15, 25, 35)
    read.read()
    assert (read.held(0), read.late_rows()) == ([5, 35], 0)


@pytest.mark.parametrize(
    ("portions", "rows", "end"), [(1, 3, 0), (1, 4, 1), (2, 1, 0), (2, 2, 1), (4, 1, 1)]
)
def test_the_open_chunk_is_evaluated_when_there_is_a_portion_of_it(
    portions: int, rows: int, end: int
) -> None:
    read = Read(Windows(2, 1))
    assert read.reading.portion(0, portions, read.walk) < -1_000
    read.add(0, 1.0, -4, -3, -2, -1)  # four rows are what the next chunk is expected to have
    read.add(0, 2.0, *range(rows))
    read.read()
    assert read.reading.portion(0, portions, read.walk) == end


def test_forgotten_chunks_are_no_longer_held() -> None:
    read = Read()
    for number in (0, 1):
        read.add(number, 1.0, 5, 15, 25, 35)
    read.read()
    read.pass_windows()
    read.reading.forget([1, 2], 3)
    assert (read.held(0), read.held(1)) == ([15, 25, 35], [25, 35])
    assert [list(ring) for ring in read.reading.occupied] == [[1, 2, 3], [2, 3]]


def test_rows_that_are_not_kept_are_held_until_they_are_fed() -> None:
    read = Read(Windows(2, 1), keeps_rows=False)
    read.add(0, 1.0, 5, 15)
    read.read()
    assert read.reading.held_rows() == 2
    rows = read.reading.rows[0]
    rows.take_as_fed(rows.unfed(1))
    assert read.reading.held_rows() == 1
    assert isinstance(rows.between(0, 9), pa.Table)
