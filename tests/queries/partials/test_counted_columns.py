"""Columns that are added when parts enter the window, and subtracted when they leave."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.counted_columns import (
    ENTERS,
    LEAVES,
    LivePlaces,
    PartValues,
    StateCounts,
    SubtractedSum,
    can_subtract,
)

SIZE = 151
PARTS = st.lists(st.sets(st.integers(0, SIZE - 1), min_size=1), max_size=12)
PLACES = np.array([0, 1])


def places_of(live: LivePlaces) -> list[int]:
    places: list[int] = live.of(np.arange(SIZE)).tolist()
    return places


@given(PARTS, st.integers(1, 4))
def test_a_place_is_in_the_window_as_long_as_a_part_of_it_has_it(
    parts: list[set[int]], window: int
) -> None:
    live = LivePlaces()
    for index, part in enumerate(parts):
        live.add(np.array(sorted(part)), ENTERS, SIZE)
        if index >= window:
            live.add(np.array(sorted(parts[index - window])), LEAVES, SIZE)
        live._check()
        count = Counter(place for held in parts[: index + 1][-window:] for place in held)
        assert dict(zip(places_of(live), live.parts.tolist(), strict=True)) == count


def test_places_side_by_side_are_a_slice_and_others_a_mask() -> None:
    live = LivePlaces()
    assert places_of(live) == []
    live.add(np.array([1, 2]), ENTERS, 3)
    assert live.places == slice(1, 3)
    assert places_of(live) == [1, 2]
    live.add(np.array([0, 4]), ENTERS, 5)
    live.add(np.array([1]), LEAVES, 5)
    assert isinstance(live.places, pa.BooleanArray)
    assert places_of(live) == [0, 2, 4]


def test_places_are_another_object_only_when_groups_enter_or_leave() -> None:
    live = LivePlaces()
    live.add(PLACES, ENTERS, 2)
    places = live.places
    live.add(PLACES[1:], ENTERS, 2)
    live.add(PLACES[1:], LEAVES, 2)
    assert live.places is places
    live.add(PLACES[1:], LEAVES, 2)
    assert live.places is not places


def test_the_values_of_a_column_are_copied() -> None:
    live, column = LivePlaces(), np.array([5, 6, 7])
    for places in (PLACES, np.array([0, 2])):
        live.add(places, ENTERS, 3)
        given_out = live.of(column)
        column += 1
        assert given_out.tolist() == (column - 1)[live.of(np.arange(3))].tolist()


def part(mask: list[bool] | None, bound: int = 0) -> PartValues:
    present = None if mask is None else np.array(mask)
    return PartValues((np.array([1, 1]),), (present,), bound)


def test_a_place_has_a_value_as_soon_as_one_part_has_one() -> None:
    live, counts = LivePlaces(), StateCounts(1, limit=1)
    parts = [part(None), part([False, True]), part([True, False])]
    seen = []
    for times, values in [(ENTERS, 0), (LEAVES, 0), (ENTERS, 1), (ENTERS, 2), (LEAVES, 2)]:
        live.add(PLACES, times, 2)
        counts.add(PLACES, parts[values], times, 2)
        counts._check(live)
        [present] = counts.present(live)
        seen.append(None if present is None else present.tolist())
    assert seen == [None, None, [False, True], [True, True], [False, True]]


def test_there_is_room_for_places_that_come_after_a_null() -> None:
    live, counts = LivePlaces(), StateCounts(1, limit=1)
    for places, values in [(PLACES, part([False, True])), (PLACES + 100, part(None))]:
        live.add(places, ENTERS, int(places.max()) + 1)
        counts.add(places, values, ENTERS, int(places.max()) + 1)
    [present] = counts.present(live)
    assert present is not None
    assert present.tolist() == [False, True, True, True]


def test_a_state_is_exact_as_long_as_the_bounds_in_the_window_are_below_its_limit() -> None:
    counts = StateCounts(1, limit=10)
    seen = []
    for times, bound in [(ENTERS, 4), (ENTERS, 5), (ENTERS, 1), (LEAVES, 4)]:
        counts.add(PLACES, part(None, bound), times, 2)
        seen.append(counts.is_exact)
    assert seen == [True, True, False, True]


GROUPS = 6
HUGE = pa.decimal128(38, 0)
PARTS_OF_SUMS = st.lists(
    st.dictionaries(
        st.integers(0, GROUPS - 1), st.one_of(st.none(), st.integers(-9, 9)), min_size=1, max_size=5
    ),
    max_size=12,
)
PartOfSums = dict[int, int | None]


class Sums:
    """A sum in a window of its own, of parts that have the places from 0 on if none are told."""

    def __init__(self, type_: pa.DataType) -> None:
        self.live = LivePlaces()
        self.sum = SubtractedSum(pa.field("x", type_))
        self._type = type_

    def enter(
        self, *values: int | Decimal | None, places: Sequence[int] | None = None
    ) -> PartValues:
        part = self.sum.read(pa.table({"x": pa.array(values, self._type)}))
        self.count(part, ENTERS, places)
        return part

    def leave(self, part: PartValues, places: Sequence[int] | None = None) -> None:
        self.count(part, LEAVES, places)

    def count(self, part: PartValues, times: int, places: Sequence[int] | None) -> None:
        where = np.arange(part.arrays[0].size) if places is None else np.array(places)
        self.live.add(where, times, GROUPS)
        self.sum.count(where, part, times, GROUPS)
        self.sum._check(self.live)

    def column(self) -> pa.Array:
        """Return the sums as a column."""
        return self.sum.columns(self.live)["x"]

    def values(self) -> list[int | Decimal | None] | None:
        return self.column().to_pylist() if self.sum.counts.is_exact else None


@pytest.mark.parametrize("type_", [pa.int64(), HUGE], ids=str)
def test_sums_are_those_of_the_parts_in_the_window(type_: pa.DataType) -> None:
    @given(PARTS_OF_SUMS, st.integers(1, 3))
    def check(parts: list[PartOfSums], window: int) -> None:
        sums = Sums(type_)
        held = deque[tuple[PartOfSums, PartValues]]()
        for part in parts:
            held.append((part, sums.enter(*part.values(), places=list(part))))
            if len(held) > window:
                left, values = held.popleft()
                sums.leave(values, places=list(left))
            column = sums.column()
            assert column.type == type_
            places = sums.live.of(np.arange(GROUPS)).tolist()
            found = dict(zip(places, column.to_pylist(), strict=True))
            assert found == sums_of([part for part, _ in held])

    check()


def sums_of(parts: list[PartOfSums]) -> dict[int, int | None]:
    places = {place for part in parts for place in part}
    known = {
        place: [part[place] for part in parts if part.get(place) is not None] for place in places
    }
    return {place: sum(filter(None, values)) if values else None for place, values in known.items()}


def test_a_column_that_was_given_does_not_change() -> None:
    sums = Sums(pa.int64())
    sums.enter(1, None)
    before = sums.column()
    sums.enter(1, 1)
    sums.column()
    assert before.to_pylist() == [1, None]


def test_decimals_keep_their_scale_and_sign() -> None:
    sums = Sums(pa.decimal128(38, 2))
    sums.enter(Decimal("-0.10"), Decimal("1.25"))
    sums.enter(Decimal("-0.20"), Decimal("-1.25"))
    assert sums.values() == [Decimal("-0.30"), Decimal("0.00")]


def test_a_sum_that_might_not_fit_is_not_given_until_it_does() -> None:
    sums = Sums(HUGE)
    sums.enter(Decimal(5))
    large = sums.enter(Decimal(2**62))
    assert sums.values() == [2**62 + 5]
    larger = sums.enter(Decimal(2**62))
    assert sums.values() is None
    sums.leave(larger)
    sums.leave(large)
    assert sums.values() == [5]


@pytest.mark.parametrize("value", [2**64, -(2**100), 10**38 - 1, 2**63])
def test_a_value_of_more_than_64_bits_leaves_no_trace(value: int) -> None:
    sums = Sums(HUGE)
    sums.enter(Decimal(-7))
    part = sums.enter(Decimal(value))
    assert sums.values() is None
    sums.leave(part)
    assert sums.values() == [-7]


def test_a_sum_that_the_type_of_the_column_cannot_hold_is_not_given() -> None:
    sums = Sums(pa.int16())
    sums.enter(32_767)
    assert sums.values() == [32_767]
    sums.enter(1)
    assert sums.values() is None


def test_a_decimal_of_few_digits_has_a_limit_of_its_own() -> None:
    sums = Sums(pa.decimal128(4, 1))
    sums.enter(Decimal("999.9"))
    assert sums.values() == [Decimal("999.9")]
    sums.enter(Decimal("0.1"))
    assert sums.values() is None


def test_doubles_and_unsigned_integers_are_not_subtracted() -> None:
    assert not can_subtract(pa.float64())
    assert not can_subtract(pa.uint64())
