"""The newest rows of each group are known by their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables import newest_numbers
from upstream.tables.newest_numbers import NewestOfGroup, NewestRuns

FAR = [-(1 << 62), (1 << 62) - 1]
TIMES = st.one_of(st.integers(0, 6), st.sampled_from(FAR))
FAR_APART = st.lists(st.lists(st.tuples(st.integers(0, 3), TIMES), min_size=1, max_size=9))
BATCHES = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1))


def array(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


@given(FAR_APART)
def test_it_is_a_dict_of_the_newest(batches: list[list[tuple[int, int]]]) -> None:
    """Times are so far apart, or not, that ranks have to stand for them."""
    newest, added, late = NewestOfGroup(), 0, 0
    newest.make_room(4)
    model: dict[int, tuple[int, int]] = {}
    for batch in batches:
        groups = array([g for g, _ in batch])
        change = newest.change(groups, array([time for _, time in batch]))
        changed = groups[change.chosen].tolist()
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
            before[group][1] for group in changed if group in before
        ]
        assert change.late == late_now
        late += late_now
        change.swap_in(added)
        for number, group in enumerate(changed, start=added):
            model[group] = (model[group][0], number)
        added += change.chosen.size
        assert newest.numbers_of(array([0, 1, 2, 3])).tolist() == sorted(
            number for _, number in model.values()
        )
        assert newest.kept == len(model)


@pytest.mark.parametrize("slack", [0, 1024], ids=["put together often", "seldom"])
@pytest.mark.parametrize("rows", [2, 4])
@given(batches=BATCHES)
def test_it_is_a_sorted_list_for_each_group(
    rows: int, slack: int, batches: list[list[tuple[int, int]]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newest_numbers, "_SLACK", slack)
        check_runs(rows, slack, batches)


def check_runs(rows: int, slack: int, batches: list[list[tuple[int, int]]]) -> None:
    """Compare what is known after each batch with a list for each group."""
    newest, added = NewestRuns(rows), 0
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
        assert newest.kept == len(after)
        left_over = newest._end - newest.kept
        assert 0 <= left_over <= newest.kept + slack + 4 * rows


def test_what_is_left_over_of_runs_is_released() -> None:
    newest = NewestRuns(2)
    newest.make_room(1)
    for number in range(3_000):
        newest.change(array([0]), None).swap_in(number)
    assert newest.numbers_of(array([0])).tolist() == [2_998, 2_999]
    assert len(newest._numbers) < 2_100


@pytest.mark.parametrize("rows", [1, 2])
def test_a_change_that_is_not_swapped_in_changes_nothing(rows: int) -> None:
    newest = NewestOfGroup() if rows == 1 else NewestRuns(rows)
    newest.make_room(2)
    for number in range(rows):
        newest.change(array([0, 1]), None).swap_in(2 * number)
    kept = newest.numbers_of(array([0, 1])).tolist()
    newest.change(array([1, 1, 0]), None)
    assert newest.numbers_of(array([0, 1])).tolist() == kept == [*range(2 * rows)]
    assert newest.kept == 2 * rows
    change = newest.change(array([1]), None)
    assert (change.chosen.tolist(), change.superseded.tolist()) == ([0], [1])
    change.swap_in(10)
    assert newest.numbers_of(array([1])).tolist() == ([10] if rows == 1 else [3, 10])
