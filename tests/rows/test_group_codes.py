"""Codes of groups are dense and stable, and distinguish exactly what GROUP BY does."""

from __future__ import annotations

from decimal import Decimal
from math import copysign, isnan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interrupted import interrupt_everywhere
from upstream.rows.group_codes import GroupCodes, GroupPlaces, has_places

INTERVALS = [pa.MonthDayNano([0, 1, 0]), pa.MonthDayNano([1, 0, 0]), pa.MonthDayNano([0, 0, 5])]
TEXTS = st.one_of(
    st.sampled_from(["", "\0", "\0\0", "a", "a\0", "seven77", "eight888", "x" * 28, "x" * 29]),
    st.text(max_size=40),
)
WIDE = st.sampled_from([Decimal("1.00"), Decimal("-0.01"), Decimal(10) ** 30])
FLOATS = [float("nan"), copysign(float("nan"), -1), 0.0, -0.0, 1.5]

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): st.sampled_from([-128, 0, 127]),
    pa.int16(): st.sampled_from([-(2**15), 0, 1]),
    pa.int32(): st.sampled_from([-(2**31), 0, 1]),
    pa.int64(): st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1]),
    pa.uint8(): st.sampled_from([0, 255]),
    pa.uint64(): st.sampled_from([0, 1, 2**63, 2**64 - 1]),
    pa.float32(): st.sampled_from(FLOATS),
    pa.float64(): st.sampled_from([*FLOATS, float("inf")]),
    pa.decimal128(9, 2): st.sampled_from([Decimal("1.00"), Decimal("-0.01")]),
    pa.decimal128(38, 2): WIDE,
    pa.decimal256(60, 2): st.one_of(WIDE, st.just(Decimal(10) ** 50)),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("ns"): st.integers(-5, 5),
    pa.timestamp("us", "UTC"): st.integers(-5, 5),
    pa.date32(): st.dates(),
    pa.time32("s"): st.integers(0, 5),
    pa.time64("us"): st.times(),
    pa.duration("us"): st.integers(-5, 5),
    pa.month_day_nano_interval(): st.sampled_from(INTERVALS),
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.string_view(): TEXTS,
    pa.binary(): st.binary(max_size=40),
    pa.binary(2): st.binary(min_size=2, max_size=2),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["", "a", "b"]),
    pa.dictionary(pa.int32(), pa.float64()): st.sampled_from([float("nan"), 0.0, -0.0]),
    pa.null(): st.none(),
}
ALL_TYPES = [(type_,) for type_ in VALUES]
TOGETHER = [
    (pa.int64(), pa.string()),
    (pa.float64(), pa.bool_(), pa.month_day_nano_interval()),
    (pa.dictionary(pa.int8(), pa.string()), pa.decimal256(60, 2)),
]


def comparable(value: object) -> object:
    """Return a value that equals those which SQL groups with it."""
    if isinstance(value, float):
        return "NaN" if isnan(value) else value + 0.0
    return value


@pytest.mark.parametrize("types", [*ALL_TYPES, *TOGETHER], ids=str)
def test_each_group_keeps_a_code_of_its_own(types: tuple[pa.DataType, ...]) -> None:
    rows = st.tuples(*(st.one_of(st.none(), VALUES[type_]) for type_ in types))

    @given(st.lists(st.lists(rows, max_size=12), max_size=6), st.integers(0, 3))
    def check(batches: list[list[tuple[object, ...]]], offset: int) -> None:
        codes, known = GroupCodes(types), dict[tuple[object, ...], int]()
        for batch in batches:
            columns = [pa.array([row[i] for row in batch], kind) for i, kind in enumerate(types)]
            values = zip(*(column.to_pylist() for column in columns), strict=True)
            groups = [tuple(map(comparable, row)) for row in values][offset:]
            sliced = [column.slice(offset) for column in columns]
            for group, code in zip(groups, codes.codes_of(sliced, len(groups)), strict=True):
                assert known.setdefault(group, int(code)) == code
            codes._check()
        assert len(set(known.values())) == len(known)
        assert all(code < len(codes) for code in known.values())
        if not offset:  # a dictionary may have values that no row has
            assert len(codes) <= len(known) + 1

    check()


def test_dictionaries_of_each_batch_may_differ() -> None:
    codes = GroupCodes([pa.dictionary(pa.int8(), pa.string())])
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), ["a", "b"])
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), ["b", None, "a"])
    a, b, null = codes.codes_of([first], 3).tolist()
    assert codes.codes_of([other], 3).tolist() == [b, null, a]


def test_without_columns_there_is_one_group() -> None:
    codes = GroupCodes([])
    assert codes.codes_of([], 3).tolist() == [0, 0, 0]
    assert len(codes) == 1


@pytest.mark.parametrize("event", ["line", "c_call"])
@pytest.mark.parametrize(("kind", "count"), [("texts", 60), ("integers", 200)])
def test_an_exception_anywhere_leaves_codes_as_they_were(kind: str, count: int, event: str) -> None:
    """The second batch makes the tables grow."""
    small: list[Any] = [*range(count)]
    large: list[Any] = [*range(count // 2, 5 * count // 2)]
    if kind == "texts":
        small = [str(number) * (number % 20) for number in small]
        large = [f"{number} and more" for number in large]
    types = [pa.array(small).type, pa.int64()]
    known: list[int] = []

    def codes_of(codes: GroupCodes, values: list[Any]) -> list[int]:
        lengths = [len(str(value)) for value in values]
        found: list[int] = codes.codes_of(
            [pa.array(values), pa.array(lengths)], len(values)
        ).tolist()
        return found

    def make() -> GroupCodes:
        codes = GroupCodes(types)
        known[:] = codes_of(codes, small)
        return codes

    def check(codes: GroupCodes) -> None:
        assert codes_of(codes, small) == known
        found = codes_of(codes, large)
        assert codes_of(codes, large) == found
        by_value = dict(zip([*small, *large], [*known, *found], strict=True))
        assert len(set(by_value.values())) == len(by_value)
        codes._check()

    moments = interrupt_everywhere(make, lambda codes: codes_of(codes, large), check, event=event)
    assert moments > 30


PLACED = [
    *(pa.int64(), pa.uint64(), pa.int8(), pa.float64(), pa.float32(), pa.timestamp("us")),
    *(pa.date32(), pa.bool_(), pa.string(), pa.binary(), pa.decimal128(9, 2)),
]


def every(places: GroupPlaces) -> list[pa.Array]:
    """Return the values of all places."""
    return places.values(slice(0, len(places)))


@pytest.mark.parametrize(
    "types",
    [
        *[(type_,) for type_ in PLACED],
        (pa.int64(), pa.string()),
        (pa.float64(),) * 2 + (pa.bool_(),),
    ],
    ids=str,
)
def test_each_group_keeps_a_place_of_its_own(types: tuple[pa.DataType, ...]) -> None:
    rows = st.tuples(*(st.one_of(st.none(), VALUES[type_]) for type_ in types))
    batches = st.lists(st.lists(rows, max_size=12), max_size=6)

    @given(batches)
    def check(batches: list[list[tuple[object, ...]]]) -> None:
        places, known = GroupPlaces(types), dict[tuple[object, ...], int]()
        for batch in batches:
            groups = list({tuple(map(comparable, row)): row for row in batch}.items())
            columns = [
                pa.array([row[i] for _, row in groups], type_) for i, type_ in enumerate(types)
            ]
            found = places.places_of(columns, len(groups))
            for (group, _), place in zip(groups, found.tolist(), strict=True):
                assert known.setdefault(group, place) == place
            values = [column.take(pa.array(found)) for column in every(places)]
            rows_found = zip(*(column.to_pylist() for column in values), strict=True)
            assert [tuple(map(comparable, row)) for row in rows_found] == [
                group for group, _ in groups
            ]
            places._check()
        assert len(set(known.values())) == len(known)
        assert all(place < len(places) for place in known.values())

    check()


def test_without_group_columns_there_is_one_place() -> None:
    places = GroupPlaces([])
    assert places.places_of([], 1).tolist() == [0]
    assert every(places) == []


def test_the_values_of_some_places_are_in_their_order() -> None:
    places = GroupPlaces([pa.int64(), pa.string()])
    numbers = np.random.default_rng(2).permutation(20_000)
    for part in np.split(numbers, 10):
        texts = pa.array([str(number) for number in part])
        found = places.places_of([pa.array(part // 7), texts], part.size)
        is_odd = np.arange(len(places)) % 2 == 1
        for some, asked in ((is_odd, pa.array(is_odd)), (slice(5, 10), slice(5, 10))):
            all_values, values = every(places), places.values(asked)
            assert values == [column.take(np.arange(len(places))[some]) for column in all_values]
        assert every(places)[0].take(found).to_pylist() == (part // 7).tolist()
        assert every(places)[1].take(found) == texts


@pytest.mark.parametrize("type_", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())])], ids=str)
def test_nested_values_have_no_places(type_: pa.DataType) -> None:
    assert not has_places(type_)
