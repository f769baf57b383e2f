"""One state in each of the stacks, and merged."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from upstream.queries.partials.kernels import COMPENSATED_SUM, GREATEST_INTEGER, MOMENTS
from upstream.queries.partials.live_rows import LiveRows, Moves
from upstream.queries.partials.stacked_state import Stack, StackedState, StateValues

ROWS = np.array([0, 1])


class Greatest:
    """The greatest integers of two rows, which each part has."""

    def __init__(self) -> None:
        self.state = StackedState(GREATEST_INTEGER, [pa.int64()])
        self.live = LiveRows()

    def counted(self, *values: int | None) -> StateValues:
        """Return the values of a part that has entered the window."""
        read = self.state.read([pa.array(values, pa.int64())])
        rows = np.arange(len(values))
        self.live.enter(rows)
        self.state.count(rows, read, self.live)
        return read

    def add(self, to: Stack, *values: int | None) -> None:
        read = self.counted(*values)
        self.state.add(to, np.arange(len(values)), read.arrays)

    def columns(self) -> list[int | None]:
        self.state.merge(np.arange(self.live.count))
        self.state._check(self.live)
        [column] = self.state.columns(self.live)
        values: list[int | None] = column.to_pylist()
        return values


def test_front_middle_and_back_are_merged_and_the_next_front_is_not() -> None:
    greatest = Greatest()
    greatest.add(Stack.FRONT, 1, 5)
    greatest.add(Stack.MIDDLE, 2, 4)
    greatest.add(Stack.BACK, 3, 3)
    greatest.add(Stack.NEXT, 9, 9)
    assert greatest.columns() == [3, 5]


def test_null_is_nothing_in_a_part_and_null_if_there_is_nothing_else() -> None:
    greatest = Greatest()
    greatest.add(Stack.BACK, -5, None)
    greatest.add(Stack.FRONT, None, None)
    assert greatest.columns() == [-5, None]


def test_the_least_integer_is_not_taken_for_null() -> None:
    greatest = Greatest()
    greatest.add(Stack.BACK, -(2**63), None)
    assert greatest.columns() == [-(2**63), None]


def test_null_leaves_with_the_part_that_had_it() -> None:
    greatest = Greatest()
    nulls = greatest.counted(None, None)
    greatest.add(Stack.BACK, 1, 2)
    greatest.state.discount(greatest.live.leave(ROWS), nulls)
    assert greatest.columns() == [1, 2]


def test_what_was_in_front_before_a_part_can_be_put_back() -> None:
    greatest = Greatest()
    greatest.state.push(Stack.FRONT, ROWS, greatest.counted(5, 1).arrays)
    before = greatest.state.push(Stack.FRONT, ROWS, greatest.counted(9, 9).arrays)
    assert greatest.columns() == [9, 9]
    greatest.state.restore_front(ROWS, before)
    assert greatest.columns() == [5, 1]


def test_stacks_change_places_and_are_cleared() -> None:
    greatest = Greatest()
    greatest.add(Stack.NEXT, 7, 8)
    greatest.state.swap(Stack.FRONT, Stack.NEXT)
    assert greatest.columns() == [7, 8]
    greatest.add(Stack.FRONT, 9, 9)
    greatest.state.clear(Stack.FRONT)
    greatest.add(Stack.BACK, 1, 2)
    assert greatest.columns() == [1, 2]


def test_a_row_that_moves_leaves_nothing_behind() -> None:
    greatest = Greatest()
    greatest.add(Stack.BACK, 1, 2)
    greatest.add(Stack.FRONT, 3, 4)
    greatest.state.move(Moves(np.array([1]), np.array([0])))
    greatest.add(Stack.BACK, -9, -9)
    assert greatest.columns() == [4, -9]


def test_it_makes_room_for_more_rows() -> None:
    greatest = Greatest()
    greatest.add(Stack.BACK, 1, 2)
    greatest.add(Stack.BACK, *range(1_000))
    assert greatest.columns() == [1, 2, *range(2, 1_000)]


def test_columns_that_were_given_do_not_change() -> None:
    greatest = Greatest()
    greatest.add(Stack.BACK, 1, 2)
    greatest.state.merge(ROWS)
    [column] = greatest.state.columns(greatest.live)
    greatest.add(Stack.BACK, 5, 6)
    greatest.state.merge(ROWS)
    assert column.to_pylist() == [1, 2]


def test_columns_of_a_state_have_the_types_that_they_came_in() -> None:
    types, live = [pa.int64(), pa.float64(), pa.float32()], LiveRows()
    state = StackedState(MOMENTS, types)
    read = state.read(
        [pa.array([0], types[0]), pa.array([None], types[1]), pa.array([None], types[2])]
    )
    row = live.enter(np.array([0]))
    state.count(row, read, live)
    state.add(Stack.BACK, row, read.arrays)
    state.merge(row)
    assert [column.type for column in state.columns(live)] == types
    assert [column.to_pylist() for column in state.columns(live)] == [[0], [None], [None]]


def test_decimals_are_exact_as_long_as_they_fit() -> None:
    type_, live = pa.decimal128(38, 1), LiveRows()
    state = StackedState(GREATEST_INTEGER, [type_])
    small = state.read([pa.array([Decimal("-0.5")], type_)])
    assert small.is_exact
    assert not state.read([pa.array([Decimal(2**63)], type_)]).is_exact
    row = live.enter(np.array([0]))
    state.count(row, small, live)
    state.add(Stack.BACK, row, small.arrays)
    state.merge(row)
    assert [column.to_pylist() for column in state.columns(live)] == [[Decimal("-0.5")]]


@pytest.mark.parametrize(
    ("value", "is_exact"),
    [(1e300, True), (math.inf, True), (math.nan, True), (-1e302, False), (1.7e308, False)],
    ids=str,
)
def test_doubles_whose_sum_may_overflow_are_not_summed_here(value: float, is_exact: bool) -> None:
    state = StackedState(COMPENSATED_SUM, [pa.float64()])
    assert state.read([pa.array([1.0, None, value, math.nan])]).is_exact is is_exact


def test_what_is_read_does_not_change_the_table() -> None:
    array = pa.array([1.0, math.nan, None])
    StackedState(COMPENSATED_SUM, [pa.float64()]).read([array])
    assert array[0].as_py() == 1.0
    assert math.isnan(array[1].as_py())
    assert array[2].as_py() is None
