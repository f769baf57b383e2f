"""Times become integers of a unit, and bounds of windows that can be compared."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import StreamTypeError
from upstream.rows.stream_times import (
    FARTHEST,
    WindowBound,
    is_before,
    is_time_type,
    time_value,
    times_of,
    unit_name,
    units_per_second,
)


def times(values: object, kind: pa.DataType) -> list[int]:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.int64())
    column = pa.chunked_array([array.cast(kind)])
    found = times_of(column, "trades", "time")
    assert found.dtype == np.int64
    listed: list[int] = found.tolist()
    return listed


INTEGERS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
]
STAMPS = [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")]


@pytest.mark.parametrize("kind", [*INTEGERS, *STAMPS, pa.timestamp("us", "UTC")], ids=str)
def test_integers_and_timestamps_are_as_they_are(kind: pa.DataType) -> None:
    assert times([0, 1, 100], kind) == [0, 1, 100]
    assert times(pa.array([], pa.int8()), kind) == []


def test_days_are_counted() -> None:
    assert times([date(1970, 1, 1), date(1969, 12, 31), date(2026, 1, 1)], pa.date32()) == [
        *(0, -1, 20454),
    ]


@pytest.mark.parametrize(
    ("seconds", "microseconds"),
    [
        *((0.0, 0), (-0.0, 0), (0.29, 290_000), (0.3, 300_000), (1e-7, 0), (-1e-7, -1)),
        *((0.1 + 0.2, 300_000), (1.1, 1_100_000), (-0.29, -290_000), (1e9, 10**15)),
    ],
)
def test_seconds_are_cut_to_microseconds(seconds: float, microseconds: int) -> None:
    assert times([seconds], pa.float64()) == [microseconds]


@given(st.floats(-8e9, 8e9))
def test_a_second_is_in_its_microsecond_by_comparison(second: float) -> None:
    [number] = times([second], pa.float64())
    start, end = time_value(number, pa.float64()), time_value(number + 1, pa.float64())
    assert isinstance(start, float)
    assert isinstance(end, float)
    assert start <= second < end


@pytest.mark.parametrize(
    ("values", "kind", "row"),
    [
        (pa.array([0.0, float("nan")]), pa.float64(), 1),
        (pa.array([float("-inf"), 0.0]), pa.float64(), 0),
        (pa.array([0.0, 1e13]), pa.float64(), 1),
        (pa.array([0.0, 1e20]), pa.float32(), 1),
        (pa.array([0, FARTHEST, FARTHEST + 1]), pa.int64(), 2),
        (pa.array([0, -FARTHEST, -FARTHEST - 1]), pa.int64(), 2),
        (pa.array([1, 2**63 - 1]), pa.timestamp("us"), 1),
        (pa.array([1, 2**64 - 1], pa.uint64()), pa.uint64(), 1),
    ],
)
def test_what_is_not_finite_or_too_far_is_an_error(
    values: pa.Array, kind: pa.DataType, row: int
) -> None:
    with pytest.raises(StreamTypeError, match="is out of range") as caught:
        times(values, kind)
    assert (caught.value.row, caught.value.column, caught.value.stream) == (row, "time", "trades")


def test_nothing_is_copied_of_one_chunk() -> None:
    array = pa.array([1, 2, 3]).cast(pa.timestamp("us"))
    found = times_of(pa.chunked_array([array]), "trades", "time")
    assert found.__array_interface__["data"][0] == array.buffers()[1].address


def test_several_chunks_are_one_after_the_other() -> None:
    chunks = pa.chunked_array([[1, 2], [], [3]]).cast(pa.timestamp("us"))
    assert times_of(chunks, "trades", "time").tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("number", "kind", "value"),
    [
        (7, pa.int32(), 7),
        (1_500_000, pa.float64(), 1.5),
        (1, pa.date32(), date(1970, 1, 2)),
        (1, pa.timestamp("s"), datetime(1970, 1, 1, 0, 0, 1)),
        (1, pa.timestamp("ms"), datetime(1970, 1, 1, 0, 0, 0, 1000)),
        (-1, pa.timestamp("us"), datetime(1969, 12, 31, 23, 59, 59, 999999)),
        (1, pa.timestamp("us", "UTC"), datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=ZoneInfo("UTC"))),
        (
            0,
            pa.timestamp("us", "Europe/Berlin"),
            datetime(1970, 1, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")),
        ),
        (1, pa.timestamp("ns"), np.datetime64(1, "ns")),
        (10**18, pa.timestamp("us"), np.datetime64(10**18, "us")),
        (10**9, pa.date32(), np.datetime64(10**9, "D")),
        (0, pa.timestamp("us", "Nowhere/Land"), np.datetime64(0, "us")),
    ],
)
def test_a_time_is_a_value_of_the_column(number: int, kind: pa.DataType, value: object) -> None:
    found = time_value(number, kind)
    assert found == value
    assert type(found) is type(value)
    assert getattr(found, "tzinfo", None) == getattr(value, "tzinfo", None)


@pytest.mark.parametrize(
    ("kind", "per_second"),
    [
        (pa.timestamp("us"), 1_000_000),
        (pa.timestamp("ns", "UTC"), 10**9),
        (pa.timestamp("s"), 1),
        (pa.float64(), 1_000_000),
        (pa.date32(), Fraction(1, 86_400)),
        (pa.int64(), None),
    ],
)
def test_a_unit_has_a_length_unless_it_is_a_number(
    kind: pa.DataType, per_second: Fraction | None
) -> None:
    assert units_per_second(kind) == per_second


def test_some_types_are_times() -> None:
    assert all(map(is_time_type, [*INTEGERS, *STAMPS, pa.date32(), pa.float32(), pa.float64()]))
    others = [pa.string(), pa.bool_(), pa.time64("us"), pa.decimal128(5, 2), pa.list_(pa.int8())]
    assert not any(map(is_time_type, others))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (datetime(2026, 1, 1), datetime(2026, 1, 2)),
        (date(2026, 1, 1), date(2026, 1, 2)),
        (np.datetime64(1, "ns"), np.datetime64(2, "ns")),
        (1, 2),
        (0.5, 0.75),
    ],
)
def test_an_earlier_bound_is_before_a_later_one(one: WindowBound, other: WindowBound) -> None:
    assert is_before(one, other)
    assert not is_before(other, one)
    assert not is_before(one, one)


def test_without_windows_nothing_is_before_anything() -> None:
    assert not is_before(None, None)
    assert not is_before(None, 1)
    assert not is_before(1, None)


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        (pa.timestamp("ns"), "nanoseconds"),
        (pa.timestamp("s"), "seconds"),
        (pa.date32(), "days"),
        (pa.float64(), "microseconds"),
        (pa.int64(), ""),
    ],
    ids=str,
)
def test_times_have_a_unit(kind: pa.DataType, unit: str) -> None:
    assert unit_name(kind) == unit
