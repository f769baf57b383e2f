"""One state in each of the stacks, and merged."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from upstream.queries.partials.kernels import COMPENSATED_SUM, GREATEST_INTEGER, MOMENTS
from upstream.queries.partials.live_places import ENTERS, LEAVES, LivePlaces, PartValues
from upstream.queries.partials.stacked_state import Stack, StackedState

PLACES = np.array([0, 1])


class Greatest:
    """The greatest integers of two groups, which each part has."""

    def __init__(self) -> None:
        self.state = StackedState(GREATEST_INTEGER, [pa.field("x", pa.int64())])
        self.live = LivePlaces()

    def counted(self, *values: int | None) -> PartValues:
        """Return the values of a part that has entered the window."""
        read = self.state.read(pa.table({"x": pa.array(values, pa.int64())}))
        self.count(read, ENTERS)
        return read

    def count(self, read: PartValues, times: int) -> None:
        size = read.arrays[0].size
        self.live.add(np.arange(size), times, size)
        self.state.count(np.arange(size), read, times, size)

    def add(self, to: Stack, *values: int | None) -> None:
        read = self.counted(*values)
        self.state.add(to, np.arange(len(values)), read.arrays)

    def columns(self) -> list[int | None]:
        self.state.merge(slice(None))
        self.state._check(self.live)
        column = self.state.columns(self.live)["x"]
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
    greatest.count(nulls, LEAVES)
    assert greatest.columns() == [1, 2]


def test_what_was_in_front_before_a_part_can_be_put_back() -> None:
    greatest = Greatest()
    greatest.state.push(Stack.FRONT, PLACES, greatest.counted(5, 1).arrays)
    before = greatest.state.push(Stack.FRONT, PLACES, greatest.counted(9, 9).arrays)
    assert greatest.columns() == [9, 9]
    greatest.state.restore_front(PLACES, before)
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


def test_it_makes_room_for_more_places() -> None:
    greatest = Greatest()
    greatest.add(Stack.BACK, 1, 2)
    greatest.add(Stack.BACK, *range(1_000))
    assert greatest.columns() == [1, 2, *range(2, 1_000)]


def test_columns_that_were_given_do_not_change() -> None:
    greatest = Greatest()
    greatest.add(Stack.BACK, 1, 2)
    greatest.state.merge(PLACES)
    column = greatest.state.columns(greatest.live)["x"]
    greatest.add(Stack.BACK, 5, 6)
    greatest.state.merge(PLACES)
    assert column.to_pylist() == [1, 2]


def merged(state: StackedState, table: pa.Table) -> pa.Table:
    """Return a state of one part of one group."""
    live, place = LivePlaces(), np.array([0])
    values = state.read(table)
    live.add(place, ENTERS, 1)
    state.count(place, values, ENTERS, 1)
    state.add(Stack.BACK, place, values.arrays)
    state.merge(place)
    return pa.table(state.columns(live))


def test_columns_of_a_state_have_the_types_that_they_came_in() -> None:
    types = {"n": pa.int64(), "mean": pa.float64(), "squares": pa.float32()}
    values = {"n": 0, "mean": None, "squares": None}
    table = pa.table({name: pa.array([values[name]], types[name]) for name in types})
    assert merged(StackedState(MOMENTS, list(table.schema)), table) == table


def test_decimals_are_exact_as_long_as_they_fit() -> None:
    small, large = (
        pa.table({"x": pa.array([value], pa.decimal128(38, 1))})
        for value in (Decimal("-0.5"), Decimal(2**63))
    )
    state = StackedState(GREATEST_INTEGER, list(small.schema))
    assert state.read(small).bound == 0
    assert state.read(large).bound > 0
    assert merged(state, small) == small


@pytest.mark.parametrize(
    ("value", "is_exact"),
    [(1e300, True), (math.inf, True), (math.nan, True), (-1e302, False), (1.7e308, False)],
    ids=str,
)
def test_doubles_whose_sum_may_overflow_are_not_summed_here(value: float, is_exact: bool) -> None:
    table = pa.table({"x": [1.0, None, value, math.nan]})
    state = StackedState(COMPENSATED_SUM, list(table.schema))
    assert (state.read(table).bound == 0) is is_exact


def test_what_is_read_does_not_change_the_table() -> None:
    column = pa.array([1.0, math.nan, None])
    table = pa.table({"x": column})
    StackedState(COMPENSATED_SUM, list(table.schema)).read(table)
    assert column[0].as_py() == 1.0
    assert math.isnan(column[1].as_py())
    assert column[2].as_py() is None
