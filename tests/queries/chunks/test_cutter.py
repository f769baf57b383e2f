"""Batches are cut into chunks as by a loop that takes row by row."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.cutter import Cut, Cutter, microseconds
from upstream.queries.chunks.grid import EvenGrid, Grid, MonthGrid

FAR = 10**18

batches = st.lists(
    st.one_of(
        st.lists(st.integers(-30, 30), max_size=8),
        st.lists(st.integers(-30, 30), max_size=8).map(sorted),
        st.lists(st.sampled_from([-FAR, -1, 0, 10**9, FAR]), max_size=4),
    ),
    max_size=6,
)


class RowByRow:
    """What a cutter does, with one row at a time."""

    def __init__(self, grid: Grid, lateness: int | None) -> None:
        self.grid = grid
        self.lateness = lateness
        self.newest: int | None = None

    def cut(self, times: Iterable[int]) -> tuple[dict[int, list[int]], int, set[int]]:
        """Return the times by chunk in the order in which they came, and how many were late."""
        by_chunk: dict[int, list[int]] = {}
        late = 0
        amended: set[int] = set()
        for time in times:
            chunk = self.grid.chunk_of(time)
            newest = time if self.newest is None else self.newest
            if chunk < self.grid.chunk_of(newest):
                if self.lateness is None or time < newest - self.lateness:
                    late += 1
                    continue
                amended.add(chunk)
            self.newest = max(newest, time)
            by_chunk.setdefault(chunk, []).append(time)
        return by_chunk, late, amended


def cutter_of(length: int, lateness: int | None = None) -> Cutter:
    return Cutter(EvenGrid(length), lateness)


def cut(cutter: Cutter, *times: int, newest: int | None = None) -> Cut:
    array = np.array(times, np.int64)
    return cutter.cut(pa.table({"t": array}), array, newest)


def pieces(cut: Cut) -> list[tuple[int, list[int]]]:
    return [(chunk, rows["t"].to_pylist()) for chunk, rows in cut.pieces]


grids = st.one_of(
    st.builds(EvenGrid, st.integers(1, 7), st.integers(-5, 5)),
    st.builds(MonthGrid, st.sampled_from([1, 3]), st.just("D")),
)


@given(batches=batches, grid=grids, lateness=st.none() | st.integers(0, 25))
def test_a_batch_is_cut_as_if_its_rows_came_one_by_one(
    batches: list[list[int]], grid: Grid, lateness: int | None
) -> None:
    if isinstance(grid, MonthGrid):  # days, and no ages
        batches = [[time * 9 for time in times if abs(time) < 10**6] for times in batches]
    cutter, model = Cutter(grid, lateness), RowByRow(grid, lateness)
    newest = None
    for times in batches:
        found = cut(cutter, *times, newest=newest)
        by_chunk, late, amended = model.cut(times)
        assert pieces(found) == sorted(by_chunk.items())
        assert (found.late, set(found.amended)) == (late, amended)
        assert found.progress == model.newest
        newest = found.progress
        accepted = [time for times in by_chunk.values() for time in times]
        if accepted:
            assert (found.oldest, found.newest) == (min(accepted), max(accepted))


def test_a_cutter_remembers_nothing() -> None:
    cutter = cutter_of(10)
    assert cut(cutter, 25, newest=None).late == 0
    assert cut(cutter, 3, newest=None).late == 0
    assert cut(cutter, 3, newest=25).late == 1


def test_a_row_is_late_when_a_newer_one_has_closed_its_chunk() -> None:
    # time   0     10    20    30
    # chunk  |  0  |  1  |  2  |
    # rows        a b
    #            c      b has closed chunk 0, which c was for; not so d
    #              d
    found = cut(cutter_of(10), 9, 12, 8, 11)
    assert pieces(found) == [(0, [9]), (1, [12, 11])]
    assert found.late == 1


def test_a_late_row_amends_its_chunk_as_long_as_it_is_not_too_far_behind() -> None:
    # time      0     10    20
    # newest                   25
    # accepted           15 or more
    found = cut(cutter_of(10, 10), 25, 15, 14)
    assert pieces(found) == [(1, [15]), (2, [25])]
    assert (found.amended, found.late, found.oldest, found.newest) == ((1,), 1, 15, 25)


def test_a_batch_of_late_rows_adds_no_rows() -> None:
    found = cut(cutter_of(10), 3, 4, newest=25)
    assert (found.pieces, found.late, found.progress) == ([], 2, 25)


def test_a_batch_without_rows_takes_time_nowhere() -> None:
    assert [cut(cutter_of(10), newest=newest).progress for newest in (None, 25)] == [None, 25]


def test_rows_in_order_are_cut_without_being_copied() -> None:
    rows = pa.table({"t": np.arange(100)})
    found = cutter_of(30).cut(rows, np.arange(100), None)
    addresses = {each.column(0).chunk(0).buffers()[1].address for _, each in found.pieces}
    assert addresses == {rows.column(0).chunk(0).buffers()[1].address}
    assert [each.num_rows for _, each in found.pieces] == [30, 30, 30, 10]


def test_two_rows_that_are_ages_apart_are_two_pieces() -> None:
    assert pieces(cut(cutter_of(1), 0, FAR)) == [(0, [0]), (FAR, [FAR])]


@given(
    sizes=st.lists(st.integers(1, 9), max_size=6), length=st.integers(1, 5), start=st.integers(0, 9)
)
def test_rows_that_are_counted_are_cut_by_their_numbers(
    sizes: list[int], length: int, start: int
) -> None:
    cutter = cutter_of(length)
    first = start
    for size in sizes:
        numbers = np.arange(first, first + size)
        found = cutter.cut_counted(pa.table({"t": numbers}), first)
        expected, _, _ = RowByRow(EvenGrid(length), None).cut(numbers.tolist())
        assert pieces(found) == list(expected.items())
        assert (found.oldest, found.newest) == (first, first + size - 1)
        first += size
        assert found.progress == first - 1


def test_rows_that_arrive_together_are_of_one_chunk() -> None:
    rows = pa.table({"t": [5, 1, 9]})
    found = cutter_of(10).cut_one(rows, 23, None)
    assert pieces(found) == [(2, [5, 1, 9])]
    assert (found.oldest, found.newest, found.progress) == (23, 23, 23)


def test_a_clock_that_goes_back_makes_no_row_late() -> None:
    found = cutter_of(10).cut_one(pa.table({"t": [5]}), 23, 31)
    assert pieces(found) == [(3, [5])]
    assert (found.late, found.progress) == (0, 31)


@given(st.integers(0, 4 * 10**15))
def test_every_microsecond_is_found_again_on_the_axis_of_arrival(moment: int) -> None:
    assert microseconds(moment / 1_000_000) == moment
