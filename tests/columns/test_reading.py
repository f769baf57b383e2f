"""Columns of every kind are read alike, and only what they hold for used rows is read."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from datetime import date
from itertools import pairwise
from uuid import UUID, uuid4

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import InPlaceScheduler, Key, ManualClock, UpdateQueue
from upstream.columns import (
    CodedKeys,
    Column,
    as_list,
    check_key,
    float_times,
    is_columnar,
    is_finite_time,
    length_of,
    pick,
    read_keys,
    read_times,
)
from upstream.columns.reading import blocks
from upstream.errors import ColumnTypeError, KeyNotHashableError, TimeNotFiniteError

from ..queues.batches import INTEGER_KEYS, STRING_KEYS, TIMES, VALUES, timestamps


def keys_of(column: Column) -> list[Key]:
    """Return the key of each row, and check what codes promise."""
    read = read_keys(column)
    if not isinstance(read, CodedKeys):
        return read
    assert len(read) == len(read.codes)
    assert len(set(read.keys)) == len(read.keys), "two codes for one key"
    return [read.keys[code] for code in read.codes.tolist()]


@given(st.lists(st.sampled_from(["A", "B", "C", "kk", "long key"]), max_size=12))
def test_keys_are_the_same_in_every_kind_of_column(rows: list[str]) -> None:
    for name, column_of in STRING_KEYS.items():
        column = column_of(list(rows))
        assert keys_of(column) == rows, name
        assert length_of("keys", column) == len(rows), name


@given(st.lists(st.integers(0, 255), max_size=12))
def test_integer_keys_are_the_same_in_every_kind_of_column(rows: list[int]) -> None:
    for name, column_of in INTEGER_KEYS.items():
        assert keys_of(column_of(list(rows))) == rows, name


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=12), st.data())
def test_values_are_picked_alike_from_every_kind_of_column(
    rows: list[int], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
    for name, column_of in VALUES.items():
        column = column_of(list(rows))
        picked = pick("values", column, np.array(chosen, dtype=np.int64))
        assert picked == [rows[row] for row in chosen], name
        assert all(type(value) is int for value in picked), name
        assert as_list("values", column) == rows, name


@given(st.lists(st.integers(0, 32_000), max_size=12))
def test_times_are_the_same_in_every_kind_of_column(rows: list[int]) -> None:
    for name, column_of in TIMES.items():
        assert read_times(column_of(list(rows))).tolist() == rows, name


def test_nulls_among_values_are_none() -> None:
    column = pa.array([1, None, 3])
    assert pick("values", column, np.array([0, 1])) == [1, None]
    assert as_list("values", column) == [1, None, 3]


@pytest.mark.parametrize(
    "column", [deque([1, 2]), {1: 0, 2: 0}.keys(), range(1, 3), memoryview(b"\1\2")]
)
def test_any_object_with_a_length_and_an_order_is_a_column(column: Iterable[object]) -> None:
    assert length_of("keys", column) == 2
    assert as_list("keys", column) == [1, 2]
    assert not is_columnar(column)


def test_a_huge_dictionary_is_read_only_where_it_is_used() -> None:
    keys = pa.array([f"key {number}" for number in range(10_000)])
    read = read_keys(pa.DictionaryArray.from_arrays(pa.array([9_999, 5, 9_999]), keys))
    assert isinstance(read, CodedKeys)
    assert read.keys == ["key 5", "key 9999"]
    assert read.codes.tolist() == [1, 0, 1]


def test_chunks_with_more_keys_than_their_codes_can_count_are_read() -> None:
    chunks = [
        pa.array([f"{chunk} {number}" for number in range(100)])
        .dictionary_encode()
        .cast(pa.dictionary(pa.int8(), pa.string()))
        for chunk in range(3)
    ]
    column = pa.chunked_array(chunks)
    assert keys_of(column) == column.to_pylist()


def test_an_hour_that_clocks_repeat_is_one_key() -> None:
    column = pa.array([1636263000, 1636266600], pa.timestamp("s", tz="America/New_York"))
    for keys in (column, column.dictionary_encode()):
        queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
        outcome = queue.enqueue_many(keys, ["newer", "older"], [5.0, 3.0])
        assert (outcome.waiting, outcome.late) == (1, 1)
        assert [update.value for update in queue.snapshot()] == ["newer"]
        queue._check()


def test_keys_that_arrow_cannot_encode_are_read_one_by_one() -> None:
    days = [date(2026, 1, day) for day in (1, 2, 1)]
    assert keys_of(pa.array(days)) == days
    stored = pa.array([uuid4().bytes for _ in range(3)], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), stored)
    assert keys_of(column) == [UUID(bytes=each.as_py()) for each in stored]


def test_values_that_arrow_cannot_pick_are_read_one_by_one() -> None:
    texts = ["a", "b", "c"]
    for column in (pa.array(texts, pa.string_view()), pa.array(texts).dictionary_encode()):
        assert pick("values", column, np.array([2, 0])) == ["c", "a"]


def test_zero_of_either_sign_is_one_key() -> None:
    assert keys_of(pa.array([0.0, -0.0])) == [0.0, 0.0]
    assert isinstance(read_keys(pa.array([0.0, -0.0])), list)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=9))
def test_timestamps_are_converted_monotonically_in_every_unit(ticks: list[int]) -> None:
    for unit in ("s", "ms", "us", "ns"):
        column = pa.array(ticks, type=pa.timestamp(unit))
        pairs = sorted(zip(ticks, read_times(column).tolist(), strict=True))
        for (earlier, before), (later, after) in pairwise(pairs):
            assert before <= after
            assert before == after or earlier < later


@given(st.integers(-(10**15), 10**15))
def test_an_instant_is_the_same_time_in_every_unit(microseconds: int) -> None:
    exact = microseconds / 10**6
    seconds = set()
    for unit, ticks in (("us", microseconds), ("ns", microseconds * 1_000)):
        seconds.update(read_times(pa.array([ticks], type=pa.timestamp(unit))).tolist())
        seconds.update(read_times(np.array([ticks], dtype=f"datetime64[{unit}]")).tolist())
    assert len(seconds) == 1
    assert abs(seconds.pop() - exact) <= math.ulp(exact)


def test_a_long_column_of_nanoseconds_is_converted_in_all_its_blocks() -> None:
    rows: list[object] = list(range(40_000))
    assert read_times(timestamps("ns")(rows)).tolist() == rows
    assert [len(range(40_000)[block]) for block in blocks(40_000)] == [16_384, 16_384, 7_232]


@pytest.mark.parametrize(
    ("text", "unit", "seconds"),
    [
        ("3000-01-01", "D", 32_503_680_000),
        ("3000-01-01", "s", 32_503_680_000),
        ("1970-01-01T01", "h", 3_600),
        ("1971", "Y", 31_536_000),
        ("1970-01-01T00:00:50", "25s", 50),
        ("1970-01-01T00:00:00.000000000005", "ps", 0),
    ],
)
def test_datetimes_of_all_units_are_read_without_overflow(
    text: str, unit: str, seconds: float
) -> None:
    assert read_times(np.array([text], dtype=f"datetime64[{unit}]")).tolist() == [seconds]


@pytest.mark.parametrize("time", [0, 1.5, True, np.float32(1), np.int64(3), -1e308])
def test_numbers_are_times(time: object) -> None:
    assert is_finite_time(time)
    (read,) = float_times([time])
    assert type(read) is float
    assert read == time


@pytest.mark.parametrize(
    "time",
    [None, "1", math.nan, math.inf, 10**400, 1j, np.complex128(1), np.timedelta64(1, "s"), [1]],
)
def test_anything_else_is_no_time(time: object) -> None:
    assert not is_finite_time(time)
    with pytest.raises(TimeNotFiniteError) as raised:
        float_times([1.0, time, math.nan])
    assert raised.value.row == 1
    assert raised.value.time is time


def test_huge_times_whose_sum_is_infinite_are_taken() -> None:
    assert float_times([1e308, 1e308]) == [1e308, 1e308]
    assert read_times([1e308, 1e308]).tolist() == [1e308, 1e308]


@pytest.mark.parametrize("key", [[], {}, ([],), math.nan, np.zeros(2)])
def test_a_key_must_be_hashable_and_equal_to_itself(key: object) -> None:
    with pytest.raises(KeyNotHashableError) as raised:
        check_key(key, 4)
    assert raised.value.row == 4
    assert raised.value.key is key


def test_values_that_arrow_cannot_hand_to_python_are_refused_by_name() -> None:
    column = pa.array([2**62], type=pa.timestamp("us"))  # in the year 146,000
    with pytest.raises(ColumnTypeError) as raised:
        as_list("values", column)
    assert raised.value.column == "values"
    with pytest.raises(ColumnTypeError) as raised:
        pick("values", column, np.array([0]))
    assert raised.value.column == "values"
