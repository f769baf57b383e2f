"""Sums of integers and decimals, added and subtracted."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from upstream.queries.partials.live_rows import LiveRows
from upstream.queries.partials.subtracted_sum import SubtractedSum, SumValues, can_subtract

HUGE = pa.decimal128(38, 0)


class Sums:
    """A sum with rows of its own, of parts that have the places from 0 on."""

    def __init__(self, type_: pa.DataType) -> None:
        self.live = LiveRows()
        self.sum = SubtractedSum(type_)
        self._type = type_

    def enter(self, *values: int | Decimal | None) -> SumValues:
        part = self.sum.read(pa.array(values, self._type))
        part.enter(self.live.enter(np.arange(len(values))), self.live)
        self.sum._check(self.live)
        return part

    def leave(self, part: SumValues) -> None:
        rows = self.live.leave(np.arange(part.words.size))
        part.leave(rows)
        moves = self.live.sweep(rows)
        if moves is not None:
            self.sum.move(moves)
        self.sum._check(self.live)

    def values(self) -> list[int | Decimal | None] | None:
        column = self.sum.column(self.live)
        return None if column is None else column.to_pylist()


def test_decimals_keep_their_scale_and_sign() -> None:
    sums = Sums(pa.decimal128(38, 2))
    sums.enter(Decimal("-0.10"), Decimal("1.25"))
    sums.enter(Decimal("-0.20"), Decimal("-1.25"))
    assert sums.values() == [Decimal("-0.30"), Decimal("0.00")]


def test_a_sum_that_might_not_fit_is_not_given_until_it_does() -> None:
    sums = Sums(HUGE)
    sums.enter(Decimal(5))
    large = sums.enter(Decimal(2**62))
    assert sums.values() == [2**62 + 5]
    larger = sums.enter(Decimal(2**62))
    assert sums.values() is None
    sums.leave(larger)
    sums.leave(large)
    assert sums.values() == [5]


@pytest.mark.parametrize("value", [2**64, -(2**100), 10**38 - 1, 2**63])
def test_a_value_of_more_than_64_bits_leaves_no_trace(value: int) -> None:
    sums = Sums(HUGE)
    sums.enter(Decimal(-7))
    part = sums.enter(Decimal(value))
    assert sums.values() is None
    sums.leave(part)
    assert sums.values() == [-7]


def test_a_sum_that_the_type_of_the_column_cannot_hold_is_not_given() -> None:
    sums = Sums(pa.int16())
    sums.enter(32_767)
    assert sums.values() == [32_767]
    sums.enter(1)
    assert sums.values() is None


def test_a_decimal_of_few_digits_has_a_limit_of_its_own() -> None:
    sums = Sums(pa.decimal128(4, 1))
    sums.enter(Decimal("999.9"))
    assert sums.values() == [Decimal("999.9")]
    sums.enter(Decimal("0.1"))
    assert sums.values() is None


def test_when_everything_leaves_at_once_the_bound_does_too() -> None:
    sums = Sums(HUGE)
    sums.enter(Decimal(2**62), None)
    sums.enter(Decimal(2**62), None)
    sums.sum.clear()
    sums.live.clear()
    sums.enter(None, Decimal(3))
    assert sums.values() == [None, 3]


def test_doubles_and_unsigned_integers_are_not_subtracted() -> None:
    assert not can_subtract(pa.float64())
    assert not can_subtract(pa.uint64())
