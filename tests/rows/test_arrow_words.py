"""Arrow columns as NumPy arrays, and back."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from upstream.rows.arrow_words import (
    column,
    grown,
    has_ordered_words,
    lower_words,
    numbers,
    ordered_words,
    stored_as,
)

FIXED = [
    *[pa.int8(), pa.int16(), pa.int32(), pa.int64()],
    *[pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
    *[pa.float32(), pa.float64(), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("us")],
    *[pa.timestamp("us"), pa.timestamp("ns", tz="UTC"), pa.duration("ms")],
]


@pytest.mark.parametrize("type_", FIXED, ids=str)
def test_a_column_of_fixed_width_goes_there_and_back(type_: pa.DataType) -> None:
    day = 86_400_000  # dates of 64 bits are whole days
    values = [0, 127, day if type_ == pa.date64() else 1, 5]
    array = pa.array([None, *values], pa.int32() if type_.bit_width == 32 else pa.int64())
    array = array.cast(type_)
    for part in (array, array[1:], array[2:2], array[:1]):
        arrays, present = numbers(part)
        assert column(type_, arrays, present).equals(part)


@pytest.mark.parametrize("type_", [pa.int64(), pa.uint64()], ids=str)
def test_the_largest_integers_go_there_and_back(type_: pa.DataType) -> None:
    largest = 2**63 - 1 if type_ == pa.int64() else 2**64 - 1
    array = pa.array([largest, 0], type_)
    assert column(type_, *numbers(array)).equals(array)


def test_words_of_numbers_are_in_their_order() -> None:
    ascending = [-np.inf, -1e300, -1.5, -5e-324, 0.0, 5e-324, 2.0, np.inf, np.nan]
    for values in (pa.array(ascending), pa.array([-(2**63), -1, 0, 2**63 - 1])):
        assert (np.diff(ordered_words(values).astype(object)) > 0).all()
    same = ordered_words(pa.array([0.0, np.nan, -0.0, -np.nan]))
    assert same[0] == same[2] == 0
    assert same[1] == same[3]
    assert [has_ordered_words(each) for each in (pa.date32(), pa.uint64(), pa.string())] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("type_", [pa.string(), pa.bool_(), pa.decimal128(9, 2)], ids=str)
def test_other_types_have_no_fixed_width(type_: pa.DataType) -> None:
    assert stored_as(type_) is None


def test_an_interval_of_months_is_not_a_number() -> None:
    assert stored_as(pa.month_day_nano_interval()) is None


def test_decimals_that_fit_into_a_word_go_there_and_back() -> None:
    values = [Decimal("-0.01"), None, Decimal("92233720368547758.07")]
    array = pa.array([Decimal(9), *values], pa.decimal128(38, 2))[1:]
    low, present, fits = lower_words(array)
    assert fits
    assert present is not None
    assert present.tolist() == [True, False, True]
    assert low.tolist() == [-1, 0, 2**63 - 1]
    assert column(array.type, low, present).equals(array)


def test_decimals_that_do_not_fit_are_reduced_to_their_lower_words() -> None:
    array = pa.array([Decimal(2**64) + Decimal(5)], pa.decimal128(38, 0))
    low, _, fits = lower_words(array)
    assert (low.tolist(), fits) == ([5], False)


def test_an_array_grows_at_least_twofold_and_keeps_what_it_has() -> None:
    array = np.array([[1, 2], [3, 4]])
    assert grown(array, 2) is array
    assert grown(array, 3, 7).tolist() == [[1, 2], [3, 4], [7, 7], [7, 7]]
