"""Of each group the newest rows are known by their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables.newest_chains import NewestChains

BATCHES = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1))


def array(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


@pytest.mark.parametrize("rows", [2, 4])
@given(batches=BATCHES)
def test_it_is_a_sorted_list_for_each_group(
    rows: int, batches: list[list[tuple[int, int]]]
) -> None:
    newest, added = NewestChains(rows), 0
    newest.make_room(4)
    model: dict[int, list[tuple[int, int]]] = {}
    for batch in batches:
        change = newest.change(array([g for g, _ in batch]), array([time for _, time in batch]))
        before = {number for group in model.values() for _, number in group}
        numbers = dict(zip(change.chosen.tolist(), range(added, added + 100), strict=False))
        for place, (group, time) in enumerate(batch):
            of_group = model.setdefault(group, [])
            of_group.append((time, numbers.get(place, -1)))
            of_group.sort(key=lambda each: each[0])
            del of_group[:-rows]
        change.swap_in(added)
        added += change.chosen.size
        after = {number for group in model.values() for _, number in group}
        assert -1 not in after
        assert newest.numbers_of(array([0, 1, 2, 3])).tolist() == sorted(after)
        assert set(change.superseded.tolist()) == before - after
        assert (newest.kept, newest.groups) == (len(after), len(model))
        assert len(newest._numbers) <= 2 * (newest.kept + len(newest._free))


def test_slots_of_superseded_rows_are_used_again() -> None:
    newest = NewestChains(2)
    newest.make_room(1)
    for number in range(100):
        newest.change(array([0]), None).swap_in(number)
    assert newest.numbers_of(array([0])).tolist() == [98, 99]
    assert len(newest._numbers) <= 8
