"""Groups get places in the order in which they are kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from upstream.queries.partials.placed_groups import PlacedGroups, Placing


def placing(groups: PlacedGroups, *names: str | None) -> Placing:
    found = groups.placing([pa.array(names, pa.string())], len(names))
    assert found is not None
    return found


def values(groups: PlacedGroups) -> list[str | None]:
    [array] = groups.values(groups.size)
    found: list[str | None] = array.to_pylist()
    return found


def test_groups_have_the_order_in_which_they_were_kept() -> None:
    groups = PlacedGroups([pa.string()])
    placing(groups, "never kept", "c")
    for names in (["b", None], ["a", "b"], ["c", None]):
        groups.keep(placing(groups, *names))
        groups._check(None)
    assert values(groups) == ["b", None, "a", "c"]
    assert placing(groups, "c", "b", "new").places.tolist() == [3, 0, 4]


def test_a_group_that_does_not_stay_gets_another_place_when_it_comes_back() -> None:
    groups = PlacedGroups([pa.string()])
    groups.keep(placing(groups, "a", "b"))
    groups.keep(placing(groups, "a", "new").of_those(np.array([False, False])))
    groups._check(np.array([False, True, False]))
    assert placing(groups, "a", "b").places.tolist() == [3, 1]
    assert [array.to_pylist() for array in groups.values(np.array([1]))] == [["b"]]


def test_rows_of_one_group_are_not_placed() -> None:
    groups = PlacedGroups([pa.string(), pa.int64()])
    places, numbers = pa.array(["a", "b", "a"]), pa.array([1, 1, 1])
    assert groups.placing([places, numbers], 3) is None
    assert groups.placing([places, pa.array([1, 1, 2])], 3) is not None
    assert groups.placing([places.slice(1), numbers.slice(1)], 2) is not None
    assert groups.size == 0


def test_without_columns_there_is_one_group() -> None:
    groups = PlacedGroups([])
    found = groups.placing([], 1)
    assert found is not None
    groups.keep(found)
    assert groups.size == 1
    assert groups.values(1) == []
    again = groups.placing([], 1)
    assert again is not None
    assert again.places.tolist() == [0]
    assert groups.placing([], 2) is None


def test_values_of_many_small_batches_are_combined() -> None:
    groups = PlacedGroups([pa.string()])
    for number in range(1_000):
        groups.keep(placing(groups, str(number)))
    assert max(map(len, groups._pieces)) < 300
    assert values(groups) == [str(number) for number in range(1_000)]


def test_groups_are_loaded_in_their_order() -> None:
    groups = PlacedGroups([pa.string()])
    groups.load([pa.array(["b", None, "a"])], 3)
    groups._check(None)
    assert values(groups) == ["b", None, "a"]
    assert placing(groups, "a", "c").places.tolist() == [2, 3]
