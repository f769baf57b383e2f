"""Doubles as integers of 32 bits each."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.limbs import LIMBS_OF_ONE, doubles_of, first_limbs, limbs_of

COUNT = 72
DOUBLES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e3, 1e3),
    st.sampled_from([5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, 2.0**53 + 2, -0.0]),
)


def summed(doubles: list[float]) -> float:
    """Return the sum of doubles by their limbs."""
    total = np.zeros((1, COUNT), np.int64)
    limbs = limbs_of(np.array(doubles))
    for offset, values in enumerate(limbs.values):
        np.add.at(total[0], limbs.first + offset, values)
    return float(doubles_of(total, 0)[0])


@given(DOUBLES)
def test_a_double_comes_back_as_it_was(double: float) -> None:
    assert summed([double]) == double


@given(st.lists(DOUBLES, min_size=1, max_size=20))
def test_a_sum_is_the_exact_one_or_next_to_it(doubles: list[float]) -> None:
    scaled = [double / 32 for double in doubles]  # so that the sum is a double
    exact = math.fsum(scaled)
    assert abs(summed(scaled) - exact) <= math.ulp(exact)


@given(st.lists(DOUBLES, max_size=20), st.floats(-1e3, 1e3))
def test_what_is_added_and_subtracted_leaves_nothing(doubles: list[float], rest: float) -> None:
    assert summed([*doubles, rest, *(-double for double in doubles)]) == rest


def test_a_sum_beyond_the_largest_double_is_infinite() -> None:
    assert summed([1.7e308, 1.7e308]) == math.inf
    assert summed([-1.7e308, -1.7e308]) == -math.inf


def test_limbs_begin_where_they_are_said_to() -> None:
    doubles = np.array([1.0, 1e300, 5e-324])
    assert np.array_equal(first_limbs(doubles), limbs_of(doubles).first)
    assert first_limbs(doubles).min() >= 0
    assert first_limbs(doubles).max() + LIMBS_OF_ONE <= COUNT


def test_limbs_of_any_size_are_carried() -> None:
    """-1 at the lowest place, and 2**40 in a limb: the sum of many that were not carried."""
    one = int(first_limbs(np.array([2.0**-52]))[0])
    values = np.array([[-1, 1 << 40, 0], [1 << 40, -1, 0]])
    unit = doubles_of(np.array([[1, 0, 0]]), one)[0]
    expected = [(-1 + (1 << 72)) * unit, ((1 << 40) - (1 << 32)) * unit]
    assert doubles_of(values, one).tolist() == expected
    assert doubles_of(-values, one).tolist() == [-double for double in expected]
    assert doubles_of(np.array([[-1, 0, 0]]), one) == -unit
