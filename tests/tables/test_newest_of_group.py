"""Of each group the newest row is known by its number."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables.newest_of_group import NewestOfGroup

FAR = [-(1 << 62), (1 << 62) - 1]
TIMES = st.one_of(st.integers(0, 6), st.sampled_from(FAR))
BATCHES = st.lists(st.lists(st.tuples(st.integers(0, 3), TIMES), min_size=1, max_size=9))


def array(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


@given(BATCHES)
def test_it_is_a_dict_of_the_newest(batches: list[list[tuple[int, int]]]) -> None:
    """Times are so far apart, or not, that ranks have to stand for them."""
    newest, added, late = NewestOfGroup(), 0, 0
    newest.make_room(4)
    model: dict[int, tuple[int, int]] = {}
    for batch in batches:
        change = newest.change(array([g for g, _ in batch]), array([time for _, time in batch]))
        expected: dict[int, int] = {}
        before = dict(model)
        late_now = 0
        for place, (group, time) in enumerate(batch):
            if group in model and time < model[group][0]:
                late_now += 1
                continue
            expected[group] = place
            model[group] = (time, place)
        assert change.chosen.tolist() == sorted(expected.values())
        assert change.superseded.tolist() == [
            before[group][1] for group in change.groups.tolist() if group in before
        ]
        assert change.late == late_now
        late += late_now
        change.swap_in(added)
        for number, group in enumerate(change.groups.tolist(), start=added):
            model[group] = (model[group][0], number)
        added += change.chosen.size
        assert newest.numbers_of(array([0, 1, 2, 3])).tolist() == sorted(
            number for _, number in model.values()
        )
        assert newest.groups == newest.kept == len(model)
