"""A state in each of the stacks, and how much goes to which of them in one slide."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.ring import Ring
from upstream.queries.partials.counted_columns import ENTERS, LEAVES, LivePlaces, PartValues
from upstream.queries.partials.dense_window import Part
from upstream.queries.partials.kernels import COMPENSATED_SUM, GREATEST_INTEGER, MOMENTS
from upstream.queries.partials.two_stacks import Stack, StackedState, TwoStacks

if TYPE_CHECKING:
    from upstream.queries.partials.kernels import Arrays
    from upstream.rows.arrow_words import Integers

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


def test_an_earlier_front_can_be_restored() -> None:
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


def test_reading_does_not_change_the_table() -> None:
    column = pa.array([1.0, math.nan, None])
    table = pa.table({"x": column})
    StackedState(COMPENSATED_SUM, list(table.schema)).read(table)
    assert column[0].as_py() == 1.0
    assert math.isnan(column[1].as_py())
    assert column[2].as_py() is None


PLACE = np.array([0])


class CountedState(StackedState):
    """The greatest integer, and how often something is pushed to a front."""

    __slots__ = ("pushes",)

    def __init__(self) -> None:
        super().__init__(GREATEST_INTEGER, [pa.field("x", pa.int64())])
        self.pushes = 0

    def push(self, to: Stack, rows: Integers, arrays: Arrays) -> Arrays:
        self.pushes += 1
        return super().push(to, rows, arrays)


class OneGroup:
    """The greatest of one group in a window of chunks that slides, with what it costs."""

    def __init__(self) -> None:
        self.rebuilds = 0
        self.live = LivePlaces()
        self.state = CountedState()
        self.stacks = TwoStacks([self.state])
        self.ring = Ring[Part]()
        self.window = (0, 0)
        self.held: dict[int, list[int]] = {}

    def stage(self, chunk: int, value: int) -> None:
        """Add a value to a chunk, which is in the window or will be."""
        part = self.part(value)
        if self.has(chunk):
            self.enter(chunk, part)
        self.ring.add(chunk, part)
        self.held.setdefault(chunk, []).append(value)

    def part(self, value: int) -> Part:
        part = Part(pa.table({"x": [value]}))
        part.places, part.before = PLACE, None
        part.stacked = [self.state.read(part.table)]
        return part

    def enter(self, chunk: int, part: Part) -> None:
        self.count(part, ENTERS)
        self.stacks.enter(chunk, part)

    def count(self, part: Part, times: int) -> None:
        self.live.add(PLACE, times, 1)
        self.state.count(PLACE, part.stacked[0], times, 1)

    def slide(self, first: int, end: int) -> int:
        """Move the window, assert that the greatest is right, and return how often it pushed."""
        before, old = self.state.pushes, self.window
        self.stacks.build(self.ring, old, first - old[0])
        for chunk in self.ring.chunks(max(first, old[1]), end):
            for part in self.ring.of(chunk):
                self.enter(chunk, part)
        for chunk in self.ring.chunks(old[0], min(old[1], first)):
            for part in self.ring.of(chunk):
                self.count(part, LEAVES)
                self.stacks.leave(chunk, part)
        self.window = first, end
        self.ring.forget(first)
        self.held = {chunk: values for chunk, values in self.held.items() if chunk >= first}
        self.assert_right()
        return self.state.pushes - before

    def assert_right(self) -> None:
        if self.stacks.is_broken:
            self.rebuilds += 1
            self.stacks.rebuild(self.ring, self.window)
        self.stacks.merge()
        column = self.state.columns(self.live)["x"]
        inside = [
            value for chunk, values in self.held.items() for value in values if self.has(chunk)
        ]
        assert column.to_pylist() == ([max(inside)] if inside else [])
        self.stacks._check()

    def has(self, chunk: int) -> bool:
        return self.window[0] <= chunk < self.window[1]


@pytest.mark.parametrize("size", [1, 2, 3, 64, 65])
@pytest.mark.parametrize("first", [0, -1_000], ids=["filled-at-once", "filled-by-slides"])
def test_a_slide_pushes_one_chunk_and_none_pushes_many(size: int, first: int) -> None:
    group = OneGroup()
    values = np.random.default_rng(5).integers(0, 100, 2_000).tolist()
    for chunk in range(size if first == 0 else 1):
        group.stage(chunk, values[chunk])
    end = size if first == 0 else 1
    group.slide(end - size, end)
    pushes = []
    for chunk in range(end, 1_000):
        group.stage(chunk, values[chunk])
        pushes.append(group.slide(chunk + 1 - size, chunk + 1))
    assert group.rebuilds == 1
    assert max(pushes) <= 2
    assert sum(pushes) <= 1_000


@pytest.mark.parametrize("by", [1, 2, 5, 30])
def test_a_window_that_slides_by_several_chunks_is_built_in_equal_pieces(by: int) -> None:
    group, size = OneGroup(), 60
    group.window = (-size, -size)
    pushes = []
    for first in range(-size, 1_000, by):
        for chunk in range(first + size - by, first + size):
            group.stage(chunk, -chunk)
        pushes.append(group.slide(first, first + size))
    assert group.rebuilds == 1
    assert max(pushes) <= 2 * by


def test_a_part_that_leaves_the_front_uncovers_the_next() -> None:
    group = OneGroup()
    for chunk in range(9):
        group.stage(chunk, 10 - chunk)
    for first in range(8):
        group.slide(first, 9)
    assert group.rebuilds == 1


def test_lateness_below_half_a_window_never_causes_a_rebuild() -> None:
    group, size = OneGroup(), 64
    random = np.random.default_rng(3)
    for chunk in range(1_000):
        group.stage(chunk, int(random.integers(0, 1_000)))
        group.slide(chunk + 1 - size, chunk + 1)
        group.stage(chunk - int(random.integers(0, min(chunk + 1, size // 2))), 500)
        group.assert_right()
    assert group.rebuilds == 1


def test_a_late_part_of_the_front_causes_a_rebuild_only_when_it_leaves() -> None:
    group = OneGroup()
    for chunk in range(9):
        group.stage(chunk, chunk)
    group.slide(0, 9)
    group.stage(1, 70)
    group.slide(1, 9)
    assert group.rebuilds == 1
    group.slide(2, 9)
    assert group.rebuilds == 2


def test_an_amended_chunk_makes_the_next_front_start_again() -> None:
    group, size = OneGroup(), 16
    for chunk in range(100):
        group.stage(chunk, chunk % 7)
        group.slide(chunk + 1 - size, chunk + 1)
    group.ring.replace(97, [group.part(6)])  # the same value, in another part
    group.stacks.amend(97)
    for chunk in range(100, 150):
        group.stage(chunk, 0)
        group.slide(chunk + 1 - size, chunk + 1)
    assert group.rebuilds == 1


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("stage"), st.integers(-12, 3), st.integers(0, 99)),
        st.tuples(st.just("slide"), st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.just("slide"), st.just(1), st.just(1)),
    ),
    max_size=200,
)


@given(ACTIONS)
def test_the_greatest_value_is_that_of_the_window_in_any_order_of_arrival(
    actions: list[tuple[str, int, int]],
) -> None:
    group = OneGroup()
    group.slide(0, 8)
    for action, number, detail in actions:
        first, end = group.window
        if action == "stage":
            group.stage(max(first, end + number), detail)
            group.assert_right()
        else:
            group.slide(min(first + number, end), max(end + detail, first + number))


def test_unread_parts_are_merged_now_and_then() -> None:
    group = OneGroup()
    group.slide(0, 1)
    for value in range(10_000):
        group.stage(0, value)
    assert len(group.stacks._touched) < 1_000
    group.assert_right()


def test_parts_of_one_chunk_leave_together() -> None:
    group = OneGroup()
    for chunk, values in enumerate(([9, 8, 7], [1, 2, 3], [6], [5, 5])):
        for value in values:
            group.stage(chunk, value)
    for first, end in pairwise(range(6)):
        group.slide(first, max(end, 4))
