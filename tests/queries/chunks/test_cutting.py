"""Batches are cut into steps, held against a loop that takes row by row."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.cutting import Cut, Cutter, microseconds

FAR = 1 << 62

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

    def __init__(self, step: int, lateness: int | None) -> None:
        self.step = step
        self.lateness = lateness
        self.newest: int | None = None

    def cut(self, times: Iterable[int]) -> tuple[dict[int, list[int]], int, set[int]]:
        """Return the times by step in the order in which they came, and how many were late."""
        by_step: dict[int, list[int]] = {}
        late = 0
        amended: set[int] = set()
        for time in times:
            step = time // self.step
            newest = time if self.newest is None else self.newest
            if step < newest // self.step:
                if self.lateness is None or time < newest - self.lateness:
                    late += 1
                    continue
                amended.add(step)
            self.newest = max(newest, time)
            by_step.setdefault(step, []).append(time)
        return by_step, late, amended


def cut(cutter: Cutter, *times: int) -> Cut:
    array = np.array(times, np.int64)
    return cutter.cut(pa.table({"t": array}), array)


def pieces(cut: Cut) -> list[tuple[int, list[int]]]:
    return [(step, rows["t"].to_pylist()) for step, rows in cut.pieces]


@given(batches=batches, step=st.integers(1, 7), lateness=st.none() | st.integers(0, 25))
def test_a_batch_is_cut_as_if_its_rows_came_one_by_one(
    batches: list[list[int]], step: int, lateness: int | None
) -> None:
    cutter, model = Cutter(step, lateness), RowByRow(step, lateness)
    for times in batches:
        found = cut(cutter, *times)
        by_step, late, amended = model.cut(times)
        assert pieces(found) == sorted(by_step.items())
        assert (found.late, set(found.amended)) == (late, amended)
        assert cutter.newest == model.newest
        accepted = [time for times in by_step.values() for time in times]
        if accepted:
            assert (found.oldest, found.newest) == (min(accepted), max(accepted))


def test_a_row_is_late_when_a_newer_one_has_closed_its_step() -> None:
    # time   0     10    20    30
    # step   |  0  |  1  |  2  |
    # rows        a b
    #            c      b has closed step 0, which c was for; not so d
    #              d
    found = cut(Cutter(10), 9, 12, 8, 11)
    assert pieces(found) == [(0, [9]), (1, [12, 11])]
    assert found.late == 1


def test_a_late_row_amends_its_step_as_long_as_it_is_not_too_far_behind() -> None:
    # time      0     10    20
    # newest                   25
    # accepted           15 or more
    found = cut(Cutter(10, 10), 25, 15, 14)
    assert pieces(found) == [(1, [15]), (2, [25])]
    assert (found.amended, found.late, found.oldest, found.newest) == ((1,), 1, 15, 25)


def test_a_batch_of_late_rows_only_is_no_rows() -> None:
    cutter = Cutter(10)
    cut(cutter, 25)
    found = cut(cutter, 3, 4)
    assert (found.pieces, found.late) == ([], 2)
    assert cutter.newest == 25


def test_rows_in_order_are_cut_without_being_copied() -> None:
    rows = pa.table({"t": np.arange(100)})
    found = Cutter(30).cut(rows, np.arange(100))
    addresses = {each.column(0).chunk(0).buffers()[1].address for _, each in found.pieces}
    assert addresses == {rows.column(0).chunk(0).buffers()[1].address}
    assert [each.num_rows for _, each in found.pieces] == [30, 30, 30, 10]


def test_two_rows_that_are_ages_apart_are_two_pieces() -> None:
    assert pieces(cut(Cutter(1), 0, FAR)) == [(0, [0]), (FAR, [FAR])]


@given(sizes=st.lists(st.integers(1, 9), max_size=6), step=st.integers(1, 5))
def test_rows_that_are_counted_are_cut_by_their_numbers(sizes: list[int], step: int) -> None:
    cutter = Cutter(step)
    first = 0
    for size in sizes:
        numbers = np.arange(first, first + size)
        found = cutter.cut_counted(pa.table({"t": numbers}), first)
        expected, _, _ = RowByRow(step, None).cut(numbers.tolist())
        assert pieces(found) == list(expected.items())
        assert (found.oldest, found.newest) == (first, first + size - 1)
        first += size
        assert cutter.newest == first - 1


def test_rows_that_arrive_together_are_of_one_step() -> None:
    cutter = Cutter(10)
    found = cutter.cut_one(pa.table({"t": [5, 1, 9]}), 23)
    assert pieces(found) == [(2, [5, 1, 9])]
    assert (found.oldest, found.newest, cutter.newest) == (23, 23, 23)


@given(st.integers(0, 4 * 10**15))
def test_every_microsecond_is_found_again_on_the_axis_of_arrival(moment: int) -> None:
    assert microseconds(moment / 1_000_000) == moment
