"""The groups in the window, and where their states are NULL."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.live_places import (
    ENTERS,
    LEAVES,
    LivePlaces,
    PartValues,
    StateCounts,
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


def test_what_a_column_has_is_copied() -> None:
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
