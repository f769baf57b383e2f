"""One state in front, at the back, and merged."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from upstream.queries.partials.kernels import GREATEST_INTEGER, MOMENTS
from upstream.queries.partials.live_rows import Moves
from upstream.queries.partials.stacked_state import StackedState

ROWS = np.array([0, 1])


def greatest() -> StackedState:
    return StackedState(GREATEST_INTEGER, [pa.int64()])


def columns(state: StackedState, count: int) -> list[list[object]]:
    state.merge(np.arange(count))
    return [column.to_pylist() for column in state.columns(count)]


def test_front_and_back_are_merged_and_null_is_nothing() -> None:
    state = greatest()
    state.push_back(ROWS, state.read([pa.array([1, None])]))
    state.push_front(ROWS, state.read([pa.array([None, None], pa.int64())]))
    assert columns(state, 3) == [[1, None, None]]


def test_the_least_integer_is_not_taken_for_null() -> None:
    state = greatest()
    state.push_back(ROWS, state.read([pa.array([-(2**63), None])]))
    assert columns(state, 2) == [[-(2**63), None]]


def test_null_is_less_than_any_number() -> None:
    state = greatest()
    state.push_back(ROWS, state.read([pa.array([-5, -6])]))
    state.push_back(ROWS, state.read([pa.array([None, None], pa.int64())]))
    assert columns(state, 2) == [[-5, -6]]


def test_what_was_in_front_before_a_part_can_be_put_back() -> None:
    state = greatest()
    state.push_front(ROWS, state.read([pa.array([5, None])]))
    before = state.push_front(ROWS, state.read([pa.array([9, 9])]))
    assert columns(state, 2) == [[9, 9]]
    state.restore_front(ROWS, before)
    assert columns(state, 2) == [[5, None]]


def test_a_row_that_moves_leaves_nothing_behind() -> None:
    state = greatest()
    state.push_back(ROWS, state.read([pa.array([1, 2])]))
    state.push_front(ROWS, state.read([pa.array([3, 4])]))
    state.move(Moves(np.array([1]), np.array([0])))
    assert columns(state, 2) == [[4, None]]


def test_it_makes_room_for_more_rows() -> None:
    state = greatest()
    state.push_back(ROWS, state.read([pa.array([1, 2])]))
    state.reserve(1_000)
    state.push_back(np.array([999]), state.read([pa.array([3])]))
    assert columns(state, 1_000) == [[1, 2, *[None] * 997, 3]]
    state.clear()
    assert columns(state, 1) == [[None]]


def test_columns_that_were_given_do_not_change() -> None:
    state = greatest()
    state.push_back(ROWS, state.read([pa.array([1, 2])]))
    state.merge(ROWS)
    [column] = state.columns(2)
    state.push_back(ROWS, state.read([pa.array([5, 6])]))
    state.merge(ROWS)
    assert column.to_pylist() == [1, 2]


def test_columns_of_a_state_have_the_types_that_they_came_in() -> None:
    types = [pa.int64(), pa.float64(), pa.float32()]
    state = StackedState(MOMENTS, types)
    arrays = [pa.array([0], types[0]), pa.array([None], types[1]), pa.array([None], types[2])]
    state.push_back(np.array([0]), state.read(arrays))
    state.merge(np.array([0]))
    assert [column.type for column in state.columns(1)] == types
    assert [column.to_pylist() for column in state.columns(1)] == [[0], [None], [None]]


def test_decimals_are_exact_as_long_as_they_fit() -> None:
    type_ = pa.decimal128(38, 1)
    state = StackedState(GREATEST_INTEGER, [type_])
    small = state.read([pa.array([Decimal("-0.5")], type_)])
    assert small.is_exact
    assert not state.read([pa.array([Decimal(2**63)], type_)]).is_exact
    state.push_back(np.array([0]), small)
    assert columns(state, 1) == [[Decimal("-0.5")]]
