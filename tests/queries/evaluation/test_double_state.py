"""Values of rows, some of them NULL, become sums and moments in the columns of their state."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from upstream.queries.evaluation.double_state import DoubleState
from upstream.queries.rewriting.changing import DoubleColumns
from upstream.queries.rewriting.split_query import StateKind

ROWS = pa.table({"y": [10.0, None, 30.0, 50.0], "x": [1.0, None, 3.0, 9.0]})
PLACES = np.array([0, 0, 0, 1])
MOMENTS, CO_MOMENTS = StateKind.MOMENTS, StateKind.CO_MOMENTS


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (DoubleColumns(StateKind.SUM, ("x",), ("x",)), [4.0]),
        (DoubleColumns(MOMENTS, ("n", "mean", "x"), ("x",)), [2, 2.0, 2.0]),
        (DoubleColumns(CO_MOMENTS, ("n", "mx", "my", "p"), ("y", "x")), [2, 2.0, 20.0, 20.0]),
    ],
    ids=["sum", "moments", "co-moments"],
)
def test_rows_with_null_change_nothing(made: DoubleColumns, expected: list[object]) -> None:
    state = DoubleState(made)
    for signs in (np.ones(4, np.int64), np.array([-1, -1, -1, 1]), np.array([1, 1, 1, -1])):
        take = state.change(ROWS, PLACES, signs)
        assert take is not None
        take()
        state._check()
    found = state.columns_of(np.array([0, 5]))
    assert tuple(found) == made.columns
    assert [each.to_pylist()[0] for each in found.values()] == expected
    assert all(each.to_pylist()[1] in (None, 0) for each in found.values())


def test_a_value_that_is_too_large_is_not_taken_in() -> None:
    state = DoubleState(DoubleColumns(StateKind.SUM, ("x",), ("x",)))
    large = pa.table({"x": [None, 1e308]})
    assert state.change(large, np.array([0, 0]), np.array([1, 1])) is None
    assert state.columns_of(np.array([0]))["x"].to_pylist() == [None]
