"""Dense numbers for groups."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.partials.contract import comparable
from upstream.rows.group_places import GroupPlaces, has_places

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1]),
    pa.uint64(): st.sampled_from([0, 1, 2**63, 2**64 - 1]),
    pa.int8(): st.sampled_from([-128, 0, 127]),
    pa.float64(): st.sampled_from([float("nan"), 0.0, -0.0, 1.5, float("inf")]),
    pa.float32(): st.sampled_from([float("nan"), 0.0, -0.0, 1.5]),
    pa.timestamp("us"): st.datetimes(),
    pa.date32(): st.dates(),
    pa.bool_(): st.booleans(),
    pa.string(): st.one_of(st.sampled_from(["", "\0", "\0\0", "a", "a\0"]), st.text(max_size=20)),
    pa.binary(): st.binary(max_size=20),
    pa.decimal128(9, 2): st.sampled_from([Decimal("1.00"), Decimal("-0.01")]),
}


def every(places: GroupPlaces) -> list[pa.Array]:
    """Return the values of all places."""
    return places.values(slice(0, len(places)))


@pytest.mark.parametrize(
    "types",
    [
        *[(type_,) for type_ in VALUES],
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
