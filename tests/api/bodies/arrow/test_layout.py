"""Which columns are what, and which types they may have."""

from __future__ import annotations

import pyarrow as pa
import pytest

from api.bodies.arrow.layout import Layout, is_value_type, layout_of
from api.bodies.errors import UnsupportedColumnError
from api.bodies.reasons import Limits

LIMITS = Limits(depth=3)
KEY = pa.field("key", pa.string())
VALUE = pa.field("value", pa.float64())

KEY_TYPES = [
    *(pa.string(), pa.large_string(), pa.int8(), pa.int64(), pa.uint64()),
    *(pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.int64())),
    *(pa.list_(pa.string()), pa.list_(pa.int64()), pa.large_list(pa.string())),
]
NO_KEY_TYPES = [
    *(pa.float64(), pa.bool_(), pa.null(), pa.binary(), pa.timestamp("s"), pa.string_view()),
    *(pa.struct({"a": pa.string()}), pa.list_(pa.list_(pa.string())), pa.list_(pa.float64())),
    *(pa.dictionary(pa.int8(), pa.float64()), pa.run_end_encoded(pa.int32(), pa.string())),
    *(pa.list_(pa.dictionary(pa.int8(), pa.string())), pa.uuid(), pa.json_()),
]
TIME_TYPES = [pa.float64(), pa.float32(), pa.int32(), pa.uint64(), pa.timestamp("ns", "UTC")]
NO_TIME_TYPES = [
    pa.string(),
    pa.date32(),
    pa.bool_(),
    pa.duration("s"),
    pa.decimal128(9),
    pa.null(),
]
VALUE_TYPES = [
    *(pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.string()),
    *(
        pa.large_string(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.int8()),
    ),
    *(pa.list_(pa.float64()), pa.large_list(pa.string()), pa.list_(pa.int8(), 3)),
    *(pa.struct({"a": pa.string()}), pa.list_(pa.struct({"a": pa.list_(pa.bool_())}))),
]
NO_VALUE_TYPES = [
    *(pa.binary(), pa.large_binary(), pa.binary(3), pa.float16(), pa.decimal128(9), pa.date32()),
    *(pa.timestamp("s"), pa.time32("s"), pa.duration("s"), pa.map_(pa.string(), pa.int8())),
    *(pa.string_view(), pa.list_view(pa.int8()), pa.run_end_encoded(pa.int32(), pa.string())),
    *(pa.dense_union([]), pa.uuid(), pa.json_(), pa.dictionary(pa.int8(), pa.binary())),
    *(
        pa.list_(pa.null()),
        pa.list_(pa.int8(), 0),
        pa.list_(pa.null(), 1 << 30),
        pa.list_(pa.binary()),
        pa.struct([]),
    ),
    *(pa.list_(pa.struct([])), pa.struct({"a": pa.null()})),
    pa.list_(pa.dictionary(pa.int8(), pa.string())),
    pa.struct([("a", pa.int8()), ("a", pa.int8())]),
    pa.struct([("a\0", pa.int8())]),
    pa.list_(pa.list_(pa.list_(pa.list_(pa.int8())))),
]


def layout(*fields: pa.Field) -> Layout:
    return layout_of(pa.schema(fields), LIMITS)


def test_a_column_value_is_the_value() -> None:
    found = layout(VALUE, KEY)
    assert found == Layout(key=1, time=None, values=(0,), names=("value",))
    assert found.is_one_value


@pytest.mark.parametrize("others", [["bid"], ["bid", "ask"], ["value", "ask"]])
def test_other_columns_are_fields_of_the_value(others: list[str]) -> None:
    fields = [pa.field(name, pa.int8()) for name in others]
    found = layout(pa.field("time", pa.float64()), KEY, *fields)
    assert (found.time, found.key, found.names) == (0, 1, tuple(others))
    assert not found.is_one_value


@pytest.mark.parametrize("kind", KEY_TYPES, ids=str)
def test_strings_and_integers_are_keys_and_lists_and_dictionaries_of_them(
    kind: pa.DataType,
) -> None:
    assert layout(pa.field("key", kind), VALUE).key == 0


@pytest.mark.parametrize("kind", NO_KEY_TYPES, ids=str)
def test_nothing_else_is_a_key(kind: pa.DataType) -> None:
    with pytest.raises(UnsupportedColumnError, match="cast") as raised:
        layout(VALUE, pa.field("key", kind))
    assert raised.value.column == 1


@pytest.mark.parametrize("kind", TIME_TYPES, ids=str)
def test_numbers_and_timestamps_are_times(kind: pa.DataType) -> None:
    assert layout(KEY, VALUE, pa.field("time", kind)).time == 2


@pytest.mark.parametrize("kind", NO_TIME_TYPES, ids=str)
def test_nothing_else_is_a_time(kind: pa.DataType) -> None:
    with pytest.raises(UnsupportedColumnError, match="cast") as raised:
        layout(KEY, VALUE, pa.field("time", kind))
    assert raised.value.column == 2


@pytest.mark.parametrize("kind", VALUE_TYPES, ids=str)
def test_types_that_json_can_represent_are_values(kind: pa.DataType) -> None:
    layout(KEY, pa.field("value", kind))


@pytest.mark.parametrize("kind", NO_VALUE_TYPES, ids=str)
@pytest.mark.parametrize("name", ["value", "bid"])
def test_types_that_json_cannot_represent_are_refused(kind: pa.DataType, name: str) -> None:
    with pytest.raises(UnsupportedColumnError, match="cast") as raised:
        layout(KEY, pa.field(name, kind))
    assert raised.value.column == 1


def test_an_object_of_columns_is_a_level_of_its_own() -> None:
    three_levels = pa.list_(pa.list_(pa.list_(pa.int8())))
    assert is_value_type(three_levels, 3)
    layout(KEY, pa.field("value", three_levels))
    with pytest.raises(UnsupportedColumnError):
        layout(KEY, pa.field("bid", three_levels))


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [VALUE],
        [KEY],
        [KEY, pa.field("time", pa.float64())],
        [KEY, KEY, VALUE],
        [KEY, VALUE, VALUE],
        [KEY, pa.field("s3cr3t\0", pa.int8())],
        [KEY, *[pa.field(f"s3cr3t{place}", pa.int8()) for place in range(256)]],
    ],
    ids=range(8),
)
def test_missing_doubled_and_too_many_columns_are_refused(fields: list[pa.Field]) -> None:
    with pytest.raises(UnsupportedColumnError) as raised:
        layout(*fields)
    assert raised.value.column is None
    assert "s3cr3t" not in str(raised.value)
