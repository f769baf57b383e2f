"""Sums of doubles are exact, whatever was added and taken away before."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isnan, nan, ulp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials import double_sums
from upstream.queries.partials.double_sums import DoubleSums

LARGEST = float(np.nextafter(2.0**1_000, 0))


def changed(sums: DoubleSums, added: list[float], removed: list[float], group: int = 0) -> None:
    take = sums.change(
        np.full(len(added) + len(removed), group),
        np.array([*added, *removed], np.float64),
        np.repeat([1, -1], (len(added), len(removed))),
    )
    assert take is not None
    take()
    sums._check()


def sum_of(sums: DoubleSums, group: int = 0) -> float | None:
    found: list[float | None] = sums.column_of(np.array([group])).to_pylist()
    return found[0]


VALUES = st.floats(-LARGEST, LARGEST, allow_nan=False) | st.sampled_from(
    [0.1, -0.1, 1e300, -1e300, 5e-324, -5e-324, 0.0, -0.0, 1.0, 2.0**53, LARGEST]
)


@given(
    steps=st.lists(
        st.tuples(st.lists(VALUES, max_size=6), st.lists(st.integers(0, 99), max_size=6)),
        max_size=6,
    ),
    at_once=st.sampled_from([1, 16_384]),
)
def test_a_sum_is_that_of_the_values_there_are(
    steps: list[tuple[list[float], list[int]]], at_once: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(double_sums, "_AT_ONCE", at_once)
        sums = DoubleSums()
        present: list[float] = []
        for added, places in steps:
            gone = [present.pop(place % len(present)) for place in places if present]
            changed(sums, added, gone, group=2)
            changed(sums, [1.0], [], group=0)
            present += added
            exact = sum(map(Fraction, present), Fraction(0))
            found = sum_of(sums, group=2)
            if not present:
                assert found is None
            else:
                assert found is not None
                assert abs(Fraction(found) - exact) <= Fraction(ulp(float(exact)))


def test_a_large_value_that_was_taken_away_leaves_nothing_behind() -> None:
    sums = DoubleSums()
    changed(sums, [1e300, 1e-300, 0.1], [])
    assert sum_of(sums) == 1e300
    changed(sums, [], [1e300])
    assert sum_of(sums) == 0.1
    changed(sums, [], [0.1])
    assert sum_of(sums) == 1e-300


def test_ten_tenths_are_one() -> None:
    sums = DoubleSums()
    changed(sums, [0.1] * 10, [])
    assert sum_of(sums) == 1.0


def test_infinities_and_nan_are_taken_away_again() -> None:
    sums = DoubleSums()
    changed(sums, [1.5, inf, nan], [])
    found = sum_of(sums)
    assert found is not None
    assert isnan(found)
    changed(sums, [], [nan])
    assert sum_of(sums) == inf
    changed(sums, [-inf], [])
    found = sum_of(sums)
    assert found is not None
    assert isnan(found)
    changed(sums, [], [inf])
    assert sum_of(sums) == -inf
    changed(sums, [], [-inf])
    assert sum_of(sums) == 1.5


def test_values_whose_sum_might_overflow_are_not_taken_in() -> None:
    sums = DoubleSums()
    assert sums.change(np.array([0]), np.array([2.0**1_000]), np.array([1])) is None
    changed(sums, [LARGEST] * 3, [])
    assert sum_of(sums) == 3 * LARGEST


def test_nothing_changes_before_a_change_is_made() -> None:
    sums = DoubleSums()
    changed(sums, [0.5], [])
    sums.change(np.array([0, 9]), np.array([1e300, 1.0]), np.array([1, 1]))
    assert sums.column_of(np.array([0, 9, 40])).to_pylist() == [0.5, None, None]
    sums._check()


def test_a_million_changes_leave_no_error() -> None:
    random = np.random.default_rng(7)
    sums = DoubleSums()
    values = random.normal(size=1_000_000) * 10.0 ** random.integers(-9, 9, 1_000_000)
    for part in np.split(values, 10):
        for sign in (1, -1):
            take = sums.change(np.zeros(part.size, np.int64), part, np.full(part.size, sign))
            assert take is not None
            take()
        changed(sums, [0.1], [])
    assert sum_of(sums) == 1.0
