"""One number per key, from lists, columns and mappings."""

from __future__ import annotations

import numpy as np
import pytest

from upstream.errors import CostError, ParameterError, RateError, WeightError
from upstream.staleness.per_key import one_per_key, same_for_all


@pytest.mark.parametrize(
    "rates",
    [
        [1, 2.5],
        (1, 2.5),
        np.array([1, 2.5]),
        np.array([1, 2.5], dtype=np.float32),
        np.array([1, 2.5], dtype=object),
        {"a": 1, "b": 2.5},
        {"a": 1, "b": 2.5}.values(),
        iter([1, 2.5]),
    ],
)
def test_any_container_of_numbers_is_read(rates: object) -> None:
    column = one_per_key("rates", rates, RateError, rates=rates)
    assert column.tolist() == [1.0, 2.5]
    assert column.dtype == np.float64


def test_a_mapping_is_read_in_the_order_of_the_rates() -> None:
    weights = one_per_key("weights", {"b": 2, "a": 1}, WeightError, rates={"a": 0, "b": 0})
    assert weights.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_the_error_names_the_key_of_the_wrong_number(bad: float) -> None:
    with pytest.raises(RateError, match=r"rates\[1\]") as by_row:
        one_per_key("rates", [1.0, bad], RateError, rates=[1.0, bad])
    assert by_row.value.value == pytest.approx(bad, nan_ok=True)
    costs = {"a": bad, "b": 1.0}
    with pytest.raises(CostError, match=r"cost\['a'\]"):
        one_per_key("cost", costs, CostError, rates={"b": 1.0, "a": 1.0})


@pytest.mark.parametrize(
    "bad", ["12", 3.0, None, ["1", "2"], [1j], [[1.0], [1.0, 2.0]], [10**400], [None], ["x", None]]
)
def test_a_row_must_have_numbers(bad: object) -> None:
    with pytest.raises(RateError):
        one_per_key("rates", bad, RateError, rates=bad)


@pytest.mark.parametrize("bad", [np.array(1.0), np.ones((2, 2)), [[1.0, 2.0], [1.0, 2.0]]])
def test_a_row_must_have_one_dimension(bad: object) -> None:
    with pytest.raises(ParameterError):
        one_per_key("rates", bad, RateError, rates=bad)


def test_other_lengths_and_other_keys_than_those_of_the_rates_are_refused() -> None:
    with pytest.raises(ParameterError, match="3 numbers, one for each rate, not 2"):
        one_per_key("weights", [1.0, 2.0], WeightError, rates=[1.0] * 3, size=3)
    for others in ({"a": 1.0}, {"a": 1.0, "c": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0}, [1.0, 2.0]):
        with pytest.raises(ParameterError):
            one_per_key("weights", others, WeightError, rates={"a": 1.0, "b": 1.0}, size=2)
    with pytest.raises(ParameterError, match="sequence"):
        one_per_key("weights", {0: 1.0}, WeightError, rates=[1.0], size=1)


@pytest.mark.parametrize("given", [2, 2.0, np.float32(2), np.array(2.0), True + 1])
def test_one_number_is_repeated(given: object) -> None:
    assert same_for_all("cost", given, CostError, size=3).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "2", None, 2j, object(), 10**400])
def test_one_number_that_is_negative_or_no_number_is_refused(bad: object) -> None:
    with pytest.raises(CostError):
        same_for_all("cost", bad, CostError, size=3)
