"""The inputs of a query are read batch by batch, and rows are held by chunk."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.queries.chunks.walk import Walk
from upstream.queries.chunks.windows import Schedule, Windows
from upstream.queries.evaluation.reading import Reading

from ..chunks.feed import DEFINITION, Feed


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

    def read(self, now: float = 9.0) -> bool:
        """Read what waits, and pass the windows that have ended."""
        has_rows = self.reading.read(now, self.walk)
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


def test_what_was_read_is_held_by_chunk_with_when_it_came() -> None:
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
    assert (read.reading.passed(9.0), read.reading.start_of(3)) == (1, 30)


def test_a_batch_is_taken_as_a_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Read()
    read.add(0, 1.0, 5)
    read.add(0, 2.0, 6)
    read.add(1, 3.0, 7)
    cut, calls = read.feeds[0].input._cutter.cut, 0

    def interrupted(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return cut(*arguments)  # type: ignore[arg-type]  # as it was called

    with monkeypatch.context() as patch:
        patch.setattr(type(read.feeds[0].input._cutter), "cut", lambda _, *each: interrupted(*each))
        with pytest.raises(KeyboardInterrupt):
            read.read()
    assert (read.held(0), read.held(1), read.reading.late_rows()) == ([5], [], 0)
    assert read.read()
    assert (read.held(0), read.held(1)) == ([5, 6], [7])


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
    assert (read.held(1), read.reading.late_rows()) == ([], 1)
    read.add(1, 9.0, 35)
    read.read()
    assert (read.held(1), read.reading.late_rows()) == ([35], 1)


def test_such_rows_amend_windows_that_are_not_forgotten_where_they_may_be_late() -> None:
    read = Read(lateness=1_000)
    read.feeds[1].progress.close_after = 1.0
    read.add(0, 1.0, 5, 15, 25, 35)
    read.read()
    read.pass_windows()
    read.reading.forget([1, 1], 3)
    read.add(1, 9.0, 15)
    read.read()
    assert (read.held(1), read.reading.late_rows()) == ([15], 0)
    due, _ = read.walk.due(3, 9)
    assert [(each.end, each.amended) for each in due] == [(2, 9.0)]


def test_a_row_whose_chunk_is_forgotten_is_late_whatever_is_allowed() -> None:
    read = Read(lateness=1_000)
    read.feeds[1].progress.close_after = 1.0
    read.add(0, 1.0, 5, 15, 25, 35)
    read.read()
    read.pass_windows()
    read.reading.forget([1, 1], 3)
    read.add(1, 9.0, 15)
    read.add(1, 9.0, 5)
    read.read()
    assert (read.held(1), read.reading.late_rows()) == ([15], 1)


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
    assert (read.held(0), read.reading.late_rows()) == ([5, 35], 0)


@pytest.mark.parametrize(
    ("portions", "rows", "end"), [(1, 3, 0), (1, 4, 1), (2, 1, 0), (2, 2, 1), (4, 1, 1)]
)
def test_the_open_chunk_is_evaluated_when_there_is_a_portion_of_it(
    portions: int, rows: int, end: int
) -> None:
    read = Read(Windows(2, 1))
    assert read.reading.portion(0, portions) < -1_000
    read.add(0, 1.0, -4, -3, -2, -1)  # four rows are what the next chunk is expected to have
    read.add(0, 2.0, *range(rows))
    read.read()
    assert read.reading.portion(0, portions) == end


def test_what_is_forgotten_is_held_no_more() -> None:
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
