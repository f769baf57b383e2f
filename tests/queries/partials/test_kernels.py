"""The merge of two states, against the aggregate over all of the values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.kernels import (
    CO_MOMENTS,
    COMPENSATED_SUM,
    MOMENTS,
    Kernel,
    kernel_of,
)
from upstream.queries.rewriting.split_query import StateKind

if TYPE_CHECKING:
    from upstream.rows.arrow_words import Numbers

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)
CUTS = st.lists(st.integers(0, 20), max_size=4)


def merged(kernel: Kernel, states: list[list[float]]) -> list[float]:
    """Return the columns of the merge of states, beginning with the identity."""
    total = arrays_of(kernel, kernel.identity)
    for state in states:
        padded = [*state, *[0.0] * (len(kernel.identity) - len(state))]
        with np.errstate(invalid="ignore"):
            total = kernel.combine(total, arrays_of(kernel, padded))
    return [array[0].item() for array in kernel.results(total)]


def arrays_of(kernel: Kernel, values: Sequence[float]) -> tuple[Numbers, ...]:
    if isinstance(kernel.identity[0], int):
        return tuple(np.full(1, value, np.int64) for value in values)
    return tuple(np.full(1, value, np.float64) for value in values)


def pieces(values: np.ndarray, cuts: list[int]) -> list[np.ndarray]:
    bounds = [0, *sorted(cuts), len(values)]
    return [values[start:stop] for start, stop in pairwise(bounds)]


def moments(x: np.ndarray, y: np.ndarray) -> list[float]:
    if x.size == 0:
        return [0.0] * 4
    products = ((x - x.mean()) * (y - y.mean())).sum()
    return [float(x.size), x.mean(), y.mean(), products]


@given(NUMBERS, CUTS)
def test_moments_are_those_of_all_values(numbers: list[float], cuts: list[int]) -> None:
    values = np.array(numbers)
    states = [moments(part, part) for part in pieces(values, cuts)]
    count, mean, _, squares = moments(values, values)
    found = merged(MOMENTS, [[n, m, s] for n, m, _, s in states])
    assert found == pytest.approx([count, mean, squares], rel=1e-9, abs=1e-3)


@given(NUMBERS, CUTS)
def test_co_moments_are_those_of_all_pairs(numbers: list[float], cuts: list[int]) -> None:
    x = np.array(numbers)
    y = x[::-1] / 3
    states = [moments(*part) for part in zip(pieces(x, cuts), pieces(y, cuts), strict=True)]
    assert merged(CO_MOMENTS, states) == pytest.approx(moments(x, y), rel=1e-9, abs=1e-3)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_a_sum_of_doubles_is_off_by_one_rounding_and_little_more(numbers: list[float]) -> None:
    [found] = merged(COMPENSATED_SUM, [[number] for number in numbers])
    exact = math.fsum(numbers)
    assert abs(found - exact) <= sum_error(numbers, exact)


def sum_error(numbers: list[float], exact: float) -> float:
    """Return how far a compensated sum may be off: n² 2**-104 of the magnitudes, and a rounding."""
    magnitudes = sum(abs(number) / 2**104 for number in numbers)
    return abs(exact) * 2.0**-52 + len(numbers) ** 2 * magnitudes


@pytest.mark.parametrize(
    ("numbers", "total"),
    [
        ([1e16, 1.0, -1e16], 1.0),
        ([1e300, 1e-8, -1e300], 1e-8),
        ([math.inf, 1.0, math.inf], math.inf),
        ([1.0, -math.inf], -math.inf),
        ([math.inf, -math.inf, 1.0], math.nan),
        ([math.nan, math.inf], math.nan),
        ([1e308, 1e308, 1.0], math.inf),
    ],
    ids=str,
)
def test_rounding_errors_are_kept_and_infinity_is_not_one(
    numbers: list[float], total: float
) -> None:
    with np.errstate(over="ignore"):
        found = merged(COMPENSATED_SUM, [[number] for number in numbers])
    assert found == pytest.approx([total], nan_ok=True, rel=1e-15)


def test_the_mean_of_equal_values_is_that_value_and_nothing_is_apart() -> None:
    for value in (0.1, 1e200, -3e-300):
        states = [[count, value, 0.0] for count in (3.0, 7.0, 1.0)]
        assert merged(MOMENTS, states) == [11.0, value, 0.0]


@pytest.mark.parametrize(
    ("kind", "numbers", "result"),
    [
        (StateKind.MINIMUM, [math.nan, 2.0, 1.0], 1.0),
        (StateKind.MINIMUM, [math.nan, math.inf], math.inf),
        (StateKind.MINIMUM, [math.nan, math.nan], math.nan),
        (StateKind.MAXIMUM, [-math.inf, -math.inf], -math.inf),
        (StateKind.MAXIMUM, [math.inf, math.nan, 1.0], math.nan),
    ],
)
def test_nan_is_the_greatest_number(kind: StateKind, numbers: list[float], result: float) -> None:
    kernel = kernel_of(kind, [pa.float64()])
    assert kernel is not None
    assert merged(kernel, [[number] for number in numbers]) == pytest.approx([result], nan_ok=True)


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        (StateKind.OTHER, pa.int64()),
        (StateKind.MINIMUM, pa.string()),
        (StateKind.MAXIMUM, pa.uint64()),
        (StateKind.SUM, pa.float32()),
        (StateKind.SUM, pa.int64()),
        (StateKind.MAXIMUM, pa.bool_()),
    ],
)
def test_other_states_have_no_kernel(kind: StateKind, type_: pa.DataType) -> None:
    assert kernel_of(kind, [type_]) is None


def test_dates_have_a_least_and_a_greatest() -> None:
    kernel = kernel_of(StateKind.MINIMUM, [pa.date32()])
    assert kernel is not None
    assert merged(kernel, [[5], [-3]]) == [-3]
