"""Each function, computed value by value, is the plain computation of the list of the values."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import ParameterError
from upstream.windows import AggregateFunction
from upstream.windows.aggregate_functions import FUNCTIONS, function_from, name_of, result_of

INTEGERS = st.lists(st.integers(), min_size=1)
FRACTIONS = st.lists(st.fractions(max_denominator=10**6), min_size=1)
LARGEST = 1e6
FLOATS = st.lists(st.floats(-LARGEST, LARGEST), min_size=1, max_size=50)

PLAIN: dict[str, Callable[[list[Fraction]], object]] = {
    "count": len,
    "sum": sum,
    "min": min,
    "max": max,
    "mean": lambda values: sum(values) / len(values),
    "variance": lambda values: statistics.variance(values) if len(values) > 1 else None,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
}


def computed(function: object, values: list[object]) -> object:
    return result_of(function_from(function), values)


def test_every_function_with_a_name_is_compared_here() -> None:
    assert PLAIN.keys() == FUNCTIONS.keys()


@given(values=FRACTIONS)
def test_each_function_is_exact_for_fractions(values: list[Fraction]) -> None:
    for name, plain in PLAIN.items():
        assert computed(name, [*values]) == plain(values), name


@given(values=INTEGERS)
def test_each_function_except_the_variance_is_exact_for_integers(values: list[int]) -> None:
    for name in PLAIN.keys() - {"variance"}:
        assert computed(name, [*values]) == PLAIN[name](cast("list[Fraction]", values)), name


@given(values=FLOATS)
def test_each_function_is_close_for_floats(values: list[float]) -> None:
    for name in PLAIN.keys() - {"variance", "count"}:
        expected = PLAIN[name]([Fraction(value) for value in values])
        assert isinstance(expected, Fraction), name
        result = computed(name, [*values])
        assert isinstance(result, float), name
        assert math.isclose(result, expected, rel_tol=1e-9, abs_tol=1e-9 * LARGEST), name


@given(values=st.lists(st.floats(-LARGEST, LARGEST) | st.integers(-(10**6), 10**6), min_size=2))
def test_the_variance_is_that_of_the_standard_library(values: list[float]) -> None:
    result = computed("variance", [*values])
    assert isinstance(result, float)
    spread = max(values) - min(values)
    assert math.isclose(
        result, statistics.variance(values), rel_tol=1e-9, abs_tol=1e-9 * spread * spread + 1e-9
    )


def test_the_variance_survives_a_large_mean() -> None:
    # The difference of the mean square and the squared mean would be 0, or even negative.
    assert computed("variance", [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]) == 30.0


def test_the_variance_of_one_value_is_none() -> None:
    assert computed("variance", [4.0]) is None
    assert computed("variance", [4.0, 4.0]) == 0


@given(
    st.lists(st.integers(0, 2), min_size=1),
    st.sampled_from([(min, "min"), (max, "max")]),
)
def test_among_equal_values_the_first_is_kept(
    grades: list[int], functions: tuple[Callable[[list[object]], object], str]
) -> None:
    plain, name = functions

    class Graded(int):
        """A number that equals others and is not the same object."""

    values: list[object] = [Graded(grade) for grade in grades]
    assert computed(name, values) is plain(values)


@pytest.mark.parametrize(
    "values",
    [
        [Decimal("0.1"), Decimal("0.2")],
        [timedelta(seconds=1), timedelta(minutes=1)],
        ["a", "bc"],
        [(1, 2), (3,)],
        [True, True],
        [7],
        [timedelta(seconds=1)],
    ],
)
def test_any_values_that_can_be_added_can_be_summed(values: list[Decimal]) -> None:
    expected = values[0]
    for value in values[1:]:
        expected = expected + value
    assert computed("sum", [*values]) == expected


@pytest.mark.parametrize("values", [[Decimal("0.1"), Decimal("0.4")], [Fraction(1, 3)] * 3])
def test_mean_and_variance_keep_the_kind_of_number(values: list[Decimal]) -> None:
    for name, plain in (("mean", statistics.mean), ("variance", statistics.variance)):
        result = computed(name, [*values])
        assert result == plain(values)
        assert type(result) is type(values[0])


@pytest.mark.parametrize("name", ["sum", "mean", "variance"])
def test_arrays_are_computed_and_none_is_changed(name: str) -> None:
    arrays = [np.array([1.0, 10.0]), np.array([2.0, 30.0]), np.array([6.0, 20.0])]
    before = [array.copy() for array in arrays]
    function = function_from(name)
    state = function.initial()
    for array in arrays:
        state = function.add(state, array)
    expected = {"sum": [9.0, 60.0], "mean": [3.0, 20.0], "variance": [7.0, 100.0]}[name]
    np.testing.assert_allclose(np.asarray(function.finish(state)), expected)
    np.testing.assert_array_equal(arrays, before)


@pytest.mark.parametrize("name", ["count", "first", "last"])
def test_none_is_a_value_like_any_other(name: str) -> None:
    values: list[object] = [None, 3, None]
    assert computed(name, values) == {"count": 3, "first": None, "last": None}[name]
    assert computed(name, values[1:]) == {"count": 2, "first": 3, "last": None}[name]


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_value_that_cannot_be_added_leaves_the_state_as_it_was(name: str) -> None:
    function = function_from(name)
    state = function.initial()
    for value in (1, 2, 6):
        state = function.add(state, value)
    if name not in {"count", "first", "last"}:
        with pytest.raises(TypeError):
            function.add(state, "six")
    assert function.finish(state) == PLAIN[name]([Fraction(1), Fraction(2), Fraction(6)])


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_state_does_not_grow(name: str) -> None:
    function = function_from(name)
    state = function.initial()
    for value in range(1000):
        state = function.add(state, value)
    assert isinstance(state, int) or (isinstance(state, tuple) and len(state) <= 3)


@pytest.mark.parametrize(
    ("builtin", "name"), [(sum, "sum"), (min, "min"), (max, "max"), (len, "count")]
)
def test_a_builtin_means_its_name(builtin: object, name: str) -> None:
    assert function_from(builtin) is function_from(name)
    assert name_of(builtin) == name


def test_any_callable_gets_the_list_of_the_values() -> None:
    assert computed(statistics.median, [1, 9, 2]) == 2
    assert computed(sorted, [3, 1, 2]) == [1, 2, 3]
    assert computed(set, [3, 1, 3]) == {1, 3}
    assert computed(partial(sorted, reverse=True), [1, 2]) == [2, 1]


def test_windows_do_not_share_a_list() -> None:
    function = function_from(list)
    one, other = function.initial(), function.initial()
    function.add(one, 1)
    assert function.finish(other) == []


class Product:
    def initial(self) -> float:
        return 1.0

    def add(self, state: float, value: float) -> float:
        return state * value

    def finish(self, state: float) -> float:
        return state


class CallableProduct(Product):
    def __call__(self, values: list[float]) -> float:
        raise AssertionError("not incrementally")


@pytest.mark.parametrize("function", [Product(), CallableProduct()])
def test_a_function_of_the_users_is_taken_as_it_is(function: Product) -> None:
    assert isinstance(function, AggregateFunction)
    assert id(function_from(function)) == id(function)
    assert result_of(function, [2.0, 3.0]) == 6.0


def rounded(values: list[float]) -> int:
    return round(sum(values))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("mean", "mean"),
        (rounded, "rounded"),
        (statistics.median, "median"),
        (Product(), "Product"),
        (partial(rounded), "partial"),
    ],
)
def test_a_function_is_called_what_its_author_called_it(function: object, name: str) -> None:
    assert name_of(function) == name


@pytest.mark.parametrize("wrong", ["median", "SUM", "", None, 3, b"sum", ["sum"], object()])
def test_anything_else_is_an_error_that_lists_the_names(wrong: object) -> None:
    with pytest.raises(ParameterError) as raised:
        function_from(wrong)
    assert (raised.value.name, raised.value.value) == ("function", wrong)
    assert all(repr(name) in str(raised.value) for name in FUNCTIONS)


def test_the_class_of_a_function_is_not_the_function() -> None:
    with pytest.raises(ParameterError, match="an object, not its class"):
        function_from(Product)


def test_each_function_says_what_it_computes() -> None:
    assert all(function_from(name).add.__doc__ for name in FUNCTIONS)
