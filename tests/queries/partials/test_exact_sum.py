"""Sums of one and of two words, against sums of Python's integers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.cells import PlacedPartial
from upstream.queries.partials.exact_sum import ExactSum, add_pairs, add_words

SIGNS = st.sampled_from([1, -1])
EDGES = [
    edge + by for bits in (0, 31, 62, 63, 64, 65, 125) for edge in (1 << bits,) for by in (-1, 0)
]
WIDE = st.one_of(
    st.integers(-(2**126), 2**126 - 1), st.sampled_from([*EDGES, *(-edge for edge in EDGES)])
)
WORDS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9), st.sampled_from([-(2**63), 2**63 - 1])
)

if TYPE_CHECKING:
    from upstream.rows.arrow_words import Integers


def pairs_of(values: Sequence[int]) -> Integers:
    halves = [
        int.from_bytes(part, "little", signed=True)
        for value in values
        for raw in [value.to_bytes(16, "little", signed=True)]
        for part in (raw[:8], raw[8:])
    ]
    return np.array(halves, np.int64).reshape(-1, 2)


def integers_of(pairs: Integers) -> list[int]:
    return [int.from_bytes(pair.tobytes(), "little", signed=True) for pair in pairs]


@given(st.lists(st.tuples(WIDE, WIDE), min_size=1, max_size=5), SIGNS, st.integers(1, 126))
def test_pairs_of_words_are_added_and_subtracted_exactly_or_not_at_all(
    numbers: list[tuple[int, int]], sign: int, bits: int
) -> None:
    limit = 1 << bits
    numbers = [(old % (2 * limit) - limit, new) for old, new in numbers]
    olds, news = zip(*numbers, strict=True)
    found = add_pairs(pairs_of(olds), pairs_of(news), sign, bits)
    exact = [old + sign * new for old, new in numbers]
    if found is not None:
        assert integers_of(found) == exact
    smaller = limit // 2 if bits == 64 else limit
    fits = all(-smaller <= value < smaller for value in [*exact, *news])
    assert (found is not None) == fits


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5), SIGNS)
def test_words_are_added_and_subtracted_exactly_or_not_at_all(
    numbers: list[tuple[int, int]], sign: int
) -> None:
    olds, news = (np.array(each, np.int64) for each in zip(*numbers, strict=True))
    exact = [old + sign * new for old, new in numbers]
    for bits in (7, 31, 63):
        found = add_words(olds, news, sign, bits)
        assert (found is not None) == all(-(1 << bits) <= value < 1 << bits for value in exact)
        if found is not None:
            assert found.tolist() == exact


class Sums:
    """Sums of a type at a few places."""

    def __init__(self, type_: pa.DataType) -> None:
        self.sum = ExactSum(pa.field("x", type_))
        self.size = 0
        self._type = type_

    def add(self, *values: int | Decimal | None, sign: int = 1) -> bool:
        """Add to the places from 0 on; return False if that would not fit."""
        places = np.arange(len(values))
        size = max(self.size, len(values))
        table = pa.table({"x": pa.array(values, self._type)})
        writes = self.sum.changed(PlacedPartial(table, places, self.size, size, sign))
        if writes is None:
            return False
        for cells, new in writes:
            cells.write(places, new)
        self.size = size
        return True

    @property
    def values(self) -> list[int | Decimal | None]:
        column = self.sum.columns(self.size)["x"]
        assert column.type == self._type
        column.validate(full=True)
        values: list[int | Decimal | None] = column.to_pylist()
        return values


def test_a_sum_goes_on_where_64_bits_end() -> None:
    sums = Sums(pa.decimal128(38, 0))
    for _ in range(1_000):
        assert sums.add(Decimal(2**63 - 1), Decimal(-(2**63)))
    assert sums.values == [1_000 * (2**63 - 1), -1_000 * 2**63]
    for _ in range(999):
        assert sums.add(Decimal(2**63 - 1), Decimal(-(2**63)), sign=-1)
    assert sums.values == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize(
    ("type_", "most"),
    [
        (pa.int8(), 2**7 - 1),
        (pa.int32(), 2**31 - 1),
        (pa.int64(), 2**63 - 1),
        (pa.decimal128(4, 0), 2**13 - 1),
        (pa.decimal128(19, 0), 2**63 - 1),
        (pa.decimal128(25, 0), 2**83 - 1),
        (pa.decimal128(38, 0), 2**126 - 1),
    ],
    ids=str,
)
def test_what_might_not_fit_the_type_changes_nothing(type_: pa.DataType, most: int) -> None:
    of = Decimal if pa.types.is_decimal(type_) else int
    sums = Sums(type_)
    assert sums.add(of(most - 1), of(-most), None)
    assert sums.add(of(1), of(-1), None)
    before = [most, -most - 1, None]
    assert sums.values == before
    assert not sums.add(of(1), of(0), of(0))
    assert not sums.add(of(0), of(-1), of(0))
    assert not sums.add(of(0), of(1), of(0), sign=-1)
    assert sums.values == before


def test_a_part_that_is_too_large_is_not_added_although_the_sum_would_fit() -> None:
    sums = Sums(pa.decimal128(38, 0))
    assert sums.add(Decimal(-(10**37)))
    assert not sums.add(Decimal(9 * 10**37))


def test_decimals_keep_their_scale_and_sign() -> None:
    sums = Sums(pa.decimal128(38, 2))
    assert sums.add(Decimal("-0.10"), Decimal("1.25"))
    assert sums.add(Decimal("-0.20"), Decimal("-1.25"))
    assert sums.values == [Decimal("-0.30"), Decimal("0.00")]


def test_a_sum_is_null_only_if_all_its_parts_are() -> None:
    sums = Sums(pa.int64())
    assert sums.add(None, None, 1)
    assert sums.add(None, 0, None)
    assert sums.values == [None, 0, 1]


def test_a_column_that_was_given_out_does_not_change() -> None:
    for type_ in (pa.int64(), pa.decimal128(38, 0)):
        sums = Sums(type_)
        assert sums.add(1, None)
        before = sums.sum.columns(2)["x"]
        assert sums.add(1, 1)
        assert before.to_pylist() == [1, None]
