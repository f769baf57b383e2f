"""Sums of doubles that are exact however long the window slides."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.exact_sum import DoubleValues, ExactSum
from upstream.queries.partials.live_rows import LiveRows

DOUBLES = st.one_of(
    st.none(),
    st.sampled_from([0.0, 1e300, -1e300, 1e-300, math.inf, -math.inf, math.nan]),
    st.floats(-1e6, 1e6),
)


class Sums:
    """A sum with rows of its own, of parts that have the places from 0 on."""

    def __init__(self) -> None:
        self.live = LiveRows()
        self.sum = ExactSum(pa.float64())

    def enter(self, *values: float | None) -> DoubleValues:
        part = self.sum.read(pa.array(values, pa.float64()))
        part.enter(self.live.enter(np.arange(len(values))), self.live)
        self.sum._check(self.live)
        return part

    def leave(self, part: DoubleValues) -> None:
        rows = self.live.leave(np.arange(part.finite.size))
        part.leave(rows)
        moves = self.live.sweep(rows)
        if moves is not None:
            self.sum.move(moves)
        self.sum._check(self.live)

    def values(self) -> list[float | None]:
        """Return the sums in the order of the places."""
        sums = self.sum.column(self.live).to_pylist()
        return [sums[row] for row in np.argsort(self.live.places).tolist()]


def plain_sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    if all(map(math.isfinite, known)):
        return math.fsum(known)
    return math.nan if math.inf in known and -math.inf in known else sum(known)


@given(st.lists(st.lists(DOUBLES, min_size=1, max_size=4), max_size=12), st.integers(1, 3))
def test_a_sum_is_that_of_the_parts_in_the_window(
    parts: list[list[float | None]], window: int
) -> None:
    sums, held = Sums(), deque[tuple[list[float | None], DoubleValues]]()
    for values in parts:
        held.append((values, sums.enter(*values)))
        if len(held) > window:
            sums.leave(held.popleft()[1])
        width = max(len(values) for values, _ in held)
        columns = [[part[i] for part, _ in held if i < len(part)] for i in range(width)]
        for found, column in zip(sums.values(), columns, strict=True):
            exact = plain_sum(column)
            assert (found is None) == (exact is None)
            if exact is not None:
                assert found == pytest.approx(exact, rel=3e-16, abs=0, nan_ok=True)


@pytest.mark.parametrize("value", [1e-300, 1e290])
def test_a_zero_is_added_to_its_own_row(value: float) -> None:
    """Zero has a limb of its own, far from those that are kept: rows in any order share none."""
    sums = Sums()
    sums.live.enter(np.random.default_rng(1).permutation(64))
    for index in range(64):
        sums.enter(*[0.0 if i == index else value for i in range(64)])
    assert sums.values() == pytest.approx([63 * value] * 64, rel=1e-15)


def test_an_outlier_takes_room_only_while_it_is_in_the_window() -> None:
    sums = Sums()
    sums.enter(1.0)
    before = sums.sum.limbs_kept
    outlier = sums.enter(1e300)
    assert sums.sum.limbs_kept > before
    sums.leave(outlier)
    assert sums.sum.limbs_kept == before
    assert sums.values() == [1.0]


def test_what_is_read_does_not_change_the_table() -> None:
    array = pa.array([1.0, math.nan])
    ExactSum(pa.float64()).read(array)
    assert math.isnan(array[1].as_py())
