"""Groups have numbers that stay, by the values of their columns as SQL groups them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables.group_numbers import GroupNumbers

NAN = float("nan")


def numbers(groups: GroupNumbers, *columns: object, kind: pa.DataType = None) -> list[int]:
    """Return the number of each row's group."""
    chunked = [pa.chunked_array([pa.array(column, kind)]) for column in columns]
    codes, of_codes = groups.of(chunked)
    assert codes.dtype == of_codes.dtype == np.int64
    assert len(set(of_codes.tolist())) == len(of_codes), "one code is one group"
    listed: list[int] = of_codes[codes].tolist()
    return listed


def test_groups_are_numbered_as_they_come_and_stay() -> None:
    groups = GroupNumbers()
    assert numbers(groups, ["a", "b", "a"]) == [0, 1, 0]
    assert numbers(groups, ["c", "b", "c"]) == [2, 1, 2]
    assert len(groups) == 3
    assert numbers(groups, []) == []


def test_null_is_a_group_and_so_is_nan() -> None:
    groups = GroupNumbers()
    assert numbers(groups, [None, "a", None]) == [0, 1, 0]
    groups = GroupNumbers()
    assert numbers(groups, [NAN, 0.0, None, -0.0, -NAN]) == [0, 1, 2, 1, 0]
    assert numbers(groups, [-0.0, NAN]) == [1, 0]


def test_several_columns_are_grouped_together() -> None:
    groups = GroupNumbers()
    first = numbers(groups, ["a", "a", "b", None, "a"], [1, 2, 1, 1, 1])
    assert first[0] == first[4]
    assert len(set(first)) == 4
    again = numbers(groups, ["b", "a"], [1, 1])
    assert again == [first[2], first[0]]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False, None], pa.bool_()),
        ([datetime(2026, 1, 1), datetime(2026, 1, 2)], pa.timestamp("us")),
        ([1, 2], pa.timestamp("ns")),
        ([1, 2], pa.timestamp("us", "UTC")),
        ([1, 2], pa.date32()),
        ([1, 2], pa.time64("ns")),
        ([1, 2], pa.time32("s")),
        ([Decimal("1.10"), Decimal("1.20")], pa.decimal128(5, 2)),
        ([b"a", b"\x00"], pa.binary()),
        ([1, 2**64 - 1], pa.uint64()),
        ([1.5, 2.5], pa.float32()),
    ],
)
def test_any_plain_type_can_be_grouped_by(values: list[object], kind: pa.DataType) -> None:
    groups = GroupNumbers()
    expected = [*range(len(values)), *range(len(values))]
    assert numbers(groups, values * 2, kind=kind) == expected
    assert numbers(groups, values[::-1], kind=kind) == expected[: len(values)][::-1]


def test_chunks_do_not_matter() -> None:
    codes, of_codes = GroupNumbers().of([pa.chunked_array([["a", "b"], [], ["b", "c"]])])
    assert of_codes[codes].tolist() == [0, 1, 1, 2]


ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([0, 1, None])), max_size=10
)


@given(st.lists(ROWS, max_size=5))
def test_numbers_are_those_of_a_dict(batches: list[list[tuple[str | None, int | None]]]) -> None:
    groups = GroupNumbers()
    known: dict[tuple[str | None, int | None], int] = {}
    for rows in batches:
        texts = pa.chunked_array([pa.array([text for text, _ in rows], pa.string())])
        counts = pa.chunked_array([pa.array([count for _, count in rows], pa.int64())])
        codes, of_codes = groups.of([texts, counts])
        for row, number in zip(rows, of_codes[codes].tolist(), strict=True):
            assert known.setdefault(row, number) == number
    assert len(groups) == len(known) == len(set(known.values()))


def test_intervals_are_grouped() -> None:
    groups = GroupNumbers()
    days = [pa.MonthDayNano([0, day, 0]) for day in (1, 2, 1)]
    assert numbers(groups, [*days, None], kind=pa.month_day_nano_interval()) == [0, 1, 0, 2]


def test_many_different_integers_are_numbered_as_few_are() -> None:
    random = np.random.default_rng(5)
    groups, known = GroupNumbers(), dict[int, int]()
    for _ in range(6):
        values = random.integers(-500, 500, 400).tolist()
        found = numbers(groups, values)
        for value, number in zip(values, found, strict=True):
            assert known.setdefault(value, number) == number
        assert len(groups) == len(known) == len(set(known.values()))
    one = min(known)
    assert numbers(groups, [None, one]) == [len(known), known[one]]
