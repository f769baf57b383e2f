"""Variances and covariances are right, whatever was added and taken away before."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isclose, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.double_moments import DoubleMoments

Pair = tuple[float, float]


def changed(moments: DoubleMoments, added: list[Pair], removed: list[Pair]) -> None:
    pairs = np.array([*added, *removed], np.float64).reshape(-1, 2)
    take = moments.change(
        np.ones(len(pairs), np.int64),
        pairs[:, 0].copy(),
        pairs[:, 1].copy(),
        np.repeat([1, -1], (len(added), len(removed))),
    )
    assert take is not None
    take()
    moments._check()


def columns(moments: DoubleMoments) -> list[float | None]:
    return [each.to_pylist()[0] for each in moments.columns_of(np.array([1]))]


def expected(pairs: list[Pair]) -> float:
    x, y = (sum(map(Fraction, each), Fraction(0)) for each in zip(*pairs, strict=True))
    products = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    return float(products - x * y / len(pairs))


VALUES = st.floats(-100, 100).filter(lambda x: x == 0 or abs(x) > 1e-100) | st.sampled_from(
    [0.1, 1e9, 1e9 + 1, 1e15 + 0.125, 1e15, 1e100, -1e100, 1e-100, 0.0, -0.0]
)
STEPS = st.lists(
    st.tuples(
        st.lists(st.tuples(VALUES, VALUES), max_size=6), st.lists(st.integers(0, 99), max_size=6)
    ),
    max_size=5,
)


@pytest.mark.parametrize("is_square", [True, False])
@given(steps=STEPS)
def test_products_of_deviations_are_those_of_the_values_there_are(
    is_square: bool, steps: list[tuple[list[Pair], list[int]]]
) -> None:
    moments = DoubleMoments(is_square=is_square)
    present: list[Pair] = []
    for pairs, places in steps:
        added = [(x, x if is_square else y) for x, y in pairs]
        gone = [present.pop(place % len(present)) for place in places if present]
        changed(moments, added, gone)
        present += added
        count, *_, products = columns(moments)
        assert count == len(present)
        if not present:
            assert products is None
        else:
            assert products is not None
            assert isclose(products, expected(present), rel_tol=1e-11)


def test_equal_values_have_no_variance() -> None:
    moments = DoubleMoments(is_square=True)
    changed(moments, [(0.1, 0.1)] * 7 + [(1e100, 1e100)], [])
    changed(moments, [], [(1e100, 1e100), (0.1, 0.1)])
    assert columns(moments) == [6, pytest.approx(0.1), 0.0]


def test_a_large_mean_takes_no_digits_away() -> None:
    moments = DoubleMoments(is_square=True)
    changed(moments, [(1e15 + n / 8, 1e15 + n / 8) for n in range(3)], [])
    assert columns(moments)[2] == 1 / 32


def test_means_are_those_of_x_and_of_y() -> None:
    moments = DoubleMoments(is_square=False)
    changed(moments, [(1.0, 10.0), (3.0, 30.0)], [])
    assert columns(moments) == [2, 2.0, 20.0, 20.0]


@pytest.mark.parametrize("value", [inf, -inf, nan, 2.0**450, 2.0**-450, 5e-324])
def test_values_without_exact_products_are_not_taken_in(value: float) -> None:
    moments = DoubleMoments(is_square=False)
    one, other = np.array([1.0]), np.array([value])
    for x, y in ((one, other), (other, one)):
        assert moments.change(np.array([0]), x, y, np.array([1])) is None


def test_nothing_changes_before_a_change_is_made() -> None:
    moments = DoubleMoments(is_square=True)
    changed(moments, [(1.0, 1.0), (2.0, 2.0)], [])
    moments.change(np.array([1]), np.array([9.0]), np.array([9.0]), np.array([1]))
    assert columns(moments) == [2, 1.5, 0.5]
