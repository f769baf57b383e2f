"""A change is computed first, and nothing is changed before it is swapped in."""

from __future__ import annotations

import numpy as np
import pytest

from upstream.tables.newest_chains import NewestChains
from upstream.tables.newest_of_group import NewestOfGroup
from upstream.tables.row_change import NewestNumbers


def array(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_change_that_is_not_swapped_in_changes_nothing(rows: int) -> None:
    newest: NewestNumbers = NewestOfGroup() if rows == 1 else NewestChains(rows)
    newest.make_room(2)
    for number in range(rows):
        newest.change(array(0, 1), None).swap_in(2 * number)
    kept = newest.numbers_of(array(0, 1)).tolist()
    newest.change(array(1, 1, 0), None)
    assert newest.numbers_of(array(0, 1)).tolist() == kept == [*range(2 * rows)]
    assert (newest.groups, newest.kept) == (2, 2 * rows)
    change = newest.change(array(1), None)
    assert (change.groups.tolist(), change.superseded.tolist()) == ([1], [1])
    change.swap_in(10)
    assert newest.numbers_of(array(1)).tolist() == ([10] if rows == 1 else [3, 10])
