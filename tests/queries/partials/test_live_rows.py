"""The rows of the groups in the window."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.live_rows import LiveRows

PARTS = st.lists(st.sets(st.integers(0, 150), min_size=1), max_size=12)


@given(PARTS, st.integers(1, 4))
def test_rows_are_dense_and_what_is_moved_is_what_was_there(
    parts: list[set[int]], window: int
) -> None:
    """A column of places is moved as columns of sums are, and stays the places of the rows."""
    live = LiveRows()
    column = np.full(400, -1)
    for index, part in enumerate(parts):
        places = np.array(sorted(part))
        column[live.enter(places)] = places
        if index >= window:
            left = live.leave(np.array(sorted(parts[index - window])))
            moves = live.sweep(left)
            if moves is not None:
                column[moves.targets] = column[moves.sources]
        live._check()
        count = Counter(place for held in parts[: index + 1][-window:] for place in held)
        assert dict(zip(live.places.tolist(), live.parts.tolist(), strict=True)) == count
        assert np.array_equal(column[: live.count], live.places)


def test_the_version_changes_only_when_groups_enter_or_leave() -> None:
    live = LiveRows()
    live.enter(np.array([0, 1]))
    version = live.version
    live.enter(np.array([1]))
    live.sweep(live.leave(np.array([1])))
    assert live.version == version
    live.sweep(live.leave(np.array([1])))
    assert live.version != version


def test_places_can_be_given_other_numbers() -> None:
    live = LiveRows()
    live.enter(np.array([900, 5]))
    new_places = np.zeros(901, np.int64)
    new_places[[900, 5]] = [0, 1]
    live.renumber(new_places, 2)
    live._check()
    assert live.rows_of(np.array([0, 1])).tolist() == [0, 1]
