"""Rows are converted to the columns of a stream without any loss, or refused as a whole."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import StreamTypeError
from upstream.rows.conforming import conform
from upstream.rows.type_names import type_name

NAN = float("nan")


def converted(values: pa.Array, kind: pa.DataType) -> list[object]:
    table = conform(pa.table({"v": values}), "s", pa.schema({"v": kind}), ())
    assert table.schema == pa.schema({"v": kind})
    table.validate(full=True)
    listed: list[object] = table["v"].to_pylist()
    return listed


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (pa.array([1, None], pa.int8()), pa.int64(), [1, None]),
        (pa.array([1, None], pa.int64()), pa.int8(), [1, None]),
        (pa.array([7, None], pa.uint64()), pa.int32(), [7, None]),
        (pa.array([1, 2**53]), pa.float64(), [1.0, 2.0**53]),
        (pa.array([1.0, None, -0.0]), pa.int32(), [1, None, 0]),
        (pa.array([0.5, None, 1e300]), pa.float64(), [0.5, None, 1e300]),
        (pa.array([0.5, float("inf")]), pa.float32(), [0.5, float("inf")]),
        (pa.array([1, None]), pa.decimal128(5, 2), [Decimal("1.00"), None]),
        (pa.array([0.1, None]), pa.decimal128(5, 2), [Decimal("0.10"), None]),
        (pa.array([Decimal("0.10"), None]), pa.float64(), [0.1, None]),
        (pa.array([Decimal("7.00"), None]), pa.int16(), [7, None]),
        (pa.array([Decimal("7.10")]), pa.decimal128(9, 1), [Decimal("7.1")]),
        (pa.array(["a", None], pa.large_string()), pa.string(), ["a", None]),
        (pa.array(["a", None], pa.string_view()), pa.string(), ["a", None]),
        (pa.array(["a", None, "a"]).dictionary_encode(), pa.string(), ["a", None, "a"]),
        (pa.array([1, None, 1]).dictionary_encode(), pa.int8(), [1, None, 1]),
        (pa.array([b"a"], pa.binary(1)), pa.binary(), [b"a"]),
        (pa.array([None, None]), pa.string(), [None, None]),
        (pa.array([None, None]), pa.list_(pa.int32()), [None, None]),
        (pa.array([1], pa.timestamp("s")), pa.timestamp("us"), [datetime(1970, 1, 1, 0, 0, 1)]),
        (
            pa.array([10**9], pa.timestamp("ns")),
            pa.timestamp("us"),
            [datetime(1970, 1, 1, 0, 0, 1)],
        ),
        (pa.array([date(2026, 1, 1)], pa.date64()), pa.date32(), [date(2026, 1, 1)]),
        (pa.array([[1], None, []], pa.list_(pa.int64())), pa.list_(pa.int8()), [[1], None, []]),
        (
            pa.array([[1]], pa.large_list(pa.int64())),
            pa.list_(pa.field("l", pa.int32())),
            [[1]],
        ),
        (
            pa.array([{"a": 1}, None]),
            pa.struct({"a": pa.float64()}),
            [{"a": 1.0}, None],
        ),
    ],
)
def test_what_fits_is_converted(
    values: pa.Array, kind: pa.DataType, expected: list[object]
) -> None:
    assert converted(values, kind) == expected


def test_nan_stays_nan() -> None:
    [value] = converted(pa.array([NAN]), pa.float32())
    assert value != value  # noqa: PLR0124 - NaN


@pytest.mark.parametrize(
    ("values", "kind", "row", "shown"),
    [
        (pa.array([1, 300]), pa.int8(), 1, "300"),
        (pa.array([1, -1]), pa.uint8(), 1, "-1"),
        (pa.array([1, 2**53 + 1]), pa.float64(), 1, "9007199254740993"),
        (pa.array([None, 1.5]), pa.int32(), 1, "1.5"),
        (pa.array([1.0, NAN]), pa.int32(), 1, "nan"),
        (pa.array([0.5, 0.1]), pa.float32(), 1, "0.1"),
        (pa.array([0.5, 1e300]), pa.float32(), 1, "1e+300"),
        (pa.array([1, 1000]), pa.decimal128(5, 2), 1, "1000"),
        (pa.array([0.25, 0.125]), pa.decimal128(5, 2), 1, "0.125"),
        (pa.array([0.25, 1e300]), pa.decimal128(5, 2), 1, "1e+300"),
        (pa.array([0.25, NAN]), pa.decimal128(5, 2), 1, "nan"),
        (pa.array([Decimal("1.0"), Decimal("1.5")]), pa.int32(), 1, "1.5"),
        (
            pa.array([Decimal("1.0"), Decimal("0.1234567890123456789012")]),
            pa.float64(),
            1,
            "0.12",
        ),
        (pa.array([1000, 1], pa.timestamp("ns")), pa.timestamp("us"), 1, "1970"),
        (pa.array([1, 2**62], pa.timestamp("s")), pa.timestamp("us"), 1, "4611686018427387904"),
        (pa.array([[1.5], [1.25, 0.1]]), pa.list_(pa.float32()), 1, "0.1"),
        (pa.array([{"a": 1}, {"a": 300}]), pa.struct({"a": pa.int8()}), 1, "300"),
        (pa.array([1.5, 2, 1.5]).dictionary_encode(), pa.int8(), 0, "1.5"),
    ],
)
def test_a_value_that_does_not_fit_is_shown_with_its_row(
    values: pa.Array, kind: pa.DataType, row: int, shown: str
) -> None:
    with pytest.raises(StreamTypeError, match="does not fit") as caught:
        converted(values, kind)
    assert (caught.value.row, caught.value.column) == (row, "v")
    assert f"fit into {type_name(kind)} " in str(caught.value)
    assert f"of type {type_name(values.type)} does" in str(caught.value)
    assert shown in str(caught.value) or kind == pa.timestamp("us")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array(["1"]), pa.int32()),
        (pa.array(["09:30:00"]), pa.time64("us")),
        (pa.array([1]), pa.string()),
        (pa.array([1]), pa.bool_()),
        (pa.array([True]), pa.int32()),
        (pa.array([1]), pa.timestamp("us")),
        (pa.array([1], pa.timestamp("us")), pa.int64()),
        (pa.array([1], pa.timestamp("us")), pa.timestamp("us", "UTC")),
        (pa.array([1], pa.timestamp("us", "UTC")), pa.timestamp("us")),
        (pa.array([date(2026, 1, 1)]), pa.timestamp("us")),
        (pa.array([b"a"]), pa.string()),
        (pa.array([[1]]), pa.int64()),
        (pa.array([["1"]]), pa.list_(pa.int64())),
        (pa.array([{"a": 1}]), pa.struct({"b": pa.int64()})),
    ],
)
def test_a_query_that_would_read_all_rows_again_is_refused(
    values: pa.Array, kind: pa.DataType
) -> None:
    with pytest.raises(StreamTypeError, match="cast it first") as caught:
        converted(values, kind)
    assert caught.value.column == "v"


def test_a_moment_in_another_zone_is_the_same_moment() -> None:
    there = pa.array([0], pa.timestamp("us", "Asia/Tokyo"))
    table = conform(pa.table({"v": there}), "s", pa.schema({"v": pa.timestamp("us", "UTC")}), ())
    assert table["v"].cast(pa.int64()).to_pylist() == [0]


@given(st.lists(st.none() | st.floats() | st.floats(width=32), max_size=8))
def test_floats_are_narrowed_exactly_if_they_are_narrow(values: list[float | None]) -> None:
    given_ = pa.array(values, pa.float64())
    wide = [v for v in values if v is not None and v == v]  # noqa: PLR0124 - NaN
    narrow = pa.array(wide, pa.float64()).cast(pa.float32()).cast(pa.float64()).to_pylist()
    if narrow == wide:
        assert str(converted(given_, pa.float32())) == str(values)
    else:
        with pytest.raises(StreamTypeError) as caught:
            converted(given_, pa.float32())
        assert caught.value.row is not None
        assert values[caught.value.row] not in narrow


SCHEMA = pa.schema({"Time": pa.int64(), "k": pa.string(), "v": pa.float64()})


def test_columns_are_found_in_any_order_and_case() -> None:
    table = conform(pa.table({"V": [1.5], "K": ["a"], "time": [3]}), "s", SCHEMA, ("k", "Time"))
    assert table.equals(pa.table({"Time": [3], "k": ["a"], "v": [1.5]}, schema=SCHEMA))


def test_a_missing_column_is_null() -> None:
    rows = pa.table({"k": ["a", "b"], "Time": [1, 2]})
    assert conform(rows, "s", SCHEMA, ("k", "Time"))["v"].to_pylist() == [None, None]


def test_no_rows_without_columns_are_rows_of_any_stream() -> None:
    assert conform(pa.table({}), "s", SCHEMA, ("k", "Time")).equals(SCHEMA.empty_table())


def test_no_rows_of_other_columns_are_none_of_the_stream() -> None:
    with pytest.raises(StreamTypeError, match="not a column"):
        conform(pa.table({"w": pa.array([], pa.int64())}), "s", SCHEMA, ("k", "Time"))


def test_the_schema_is_that_of_the_stream_in_all() -> None:
    strict = pa.schema(
        [pa.field("Time", pa.int64(), nullable=False), ("k", pa.string()), ("v", pa.float64())],
        metadata={"a": "b"},
    )
    table = conform(pa.table({"Time": [1], "k": ["a"], "v": [1.0]}, strict), "s", SCHEMA, ("k",))
    assert table.schema.equals(SCHEMA, check_metadata=True)


@pytest.mark.parametrize(
    ("data", "column", "row", "reason"),
    [
        (pa.table({"k": ["a"]}), "Time", None, "^column 'Time' is missing;"),
        (pa.table({"Time": [1]}), "k", None, "is missing"),
        (pa.table({"Time": [1, 2], "k": ["a", None]}), "k", 1, "^row 1: column 'k' is NULL;"),
        (pa.table({"Time": [None, 2], "k": ["a", "b"]}), "Time", 0, "is NULL"),
        (pa.table({"Time": [1], "k": ["a"], "w": [1]}), "w", None, "has Time, k, v"),
        (pa.table({"Time": [1], "k": ["a"], "K": ["a"]}), "k", None, "is named twice"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    data: pa.Table, column: str | None, row: int | None, reason: str
) -> None:
    with pytest.raises(StreamTypeError, match=reason) as caught:
        conform(data, "s", SCHEMA, ("k", "Time"))
    assert (caught.value.column, caught.value.row) == (column, row)
    assert "no row was accepted" in str(caught.value)
