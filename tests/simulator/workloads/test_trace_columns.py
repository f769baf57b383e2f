"""The columns of a trace as they grow: keys of every type, and rows in the order of time."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from simulator.workloads.trace_columns import TraceColumns
from simulator.workloads.trace_times import BadRowError


def columns_of(*keys: pa.Array) -> TraceColumns:
    """Return the columns of some batches of keys, all of one time."""
    columns = TraceColumns()
    for batch in keys:
        columns.add(pa.array([0] * len(batch)), batch)
    return columns


def refusal(*keys: pa.Array) -> tuple[int, str]:
    """Return the row that is refused, and why."""
    with pytest.raises(BadRowError) as caught:
        columns_of(*keys)
    return caught.value.row, caught.value.reason


def order_refusal(*times: pa.Array, above: str = "the one above it") -> tuple[int, str]:
    """Return the row whose time is refused, and why."""
    columns = TraceColumns()
    for batch in times[:-1]:
        columns.add(batch, pa.array([0] * len(batch)))
    with pytest.raises(BadRowError) as caught:
        columns.add(times[-1], pa.array([0] * len(times[-1])), above=above)
    return caught.value.row, caught.value.reason


# Keys


@pytest.mark.parametrize(
    "keys",
    [
        ["b", "a", "b", ""],
        [b"b", b"a", b"b", b""],
        [7, -1, 7, 0],
        [True, False, True, True],
        [1.5, 0.5, 1.5, 0.0],
        [Decimal("1.50"), Decimal("0.50"), Decimal("1.50"), Decimal("0.00")],
        [date(2024, 1, 2), date(2024, 1, 1), date(2024, 1, 2), date(1, 1, 1)],
        [datetime(2024, 1, day, tzinfo=UTC) for day in (2, 1, 2, 3)],
    ],
)
def test_keys_of_any_type_are_python_values_in_order_of_first_appearance(
    keys: list[object],
) -> None:
    columns = columns_of(pa.array(keys))
    found = columns.keys()
    assert list(found) == list(dict.fromkeys(keys))
    assert [found[code] for code in columns.codes()] == keys
    assert {type(key) for key in found} == {type(key) for key in keys}


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_strings_are_keys_however_arrow_holds_them(kind: pa.DataType) -> None:
    keys = pa.array(["b", "a", "b"], kind)
    columns = columns_of(keys, pa.array(["c", "a"]))
    assert columns.keys() == ("b", "a", "c")
    assert columns.codes().tolist() == [0, 1, 0, 2, 1]


def test_identifiers_are_keys() -> None:
    first, second = uuid.UUID(int=1), uuid.UUID(int=2)
    columns = columns_of(pa.array([first.bytes, second.bytes, first.bytes], pa.uuid()))
    assert columns.keys() == (first, second)
    assert columns.codes().tolist() == [0, 1, 0]


def test_codes_stay_the_same_from_batch_to_batch() -> None:
    columns = columns_of(pa.array(["b", "a"]), pa.array(["a", "c", "b"]), pa.array([], pa.string()))
    assert columns.keys() == ("b", "a", "c")
    assert columns.codes().tolist() == [0, 1, 1, 2, 0]


def test_a_dictionary_adds_only_the_keys_that_rows_have() -> None:
    keys = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), pa.array(["a", "unused", "c", None]))
    columns = columns_of(keys)
    assert columns.keys() == ("c", "a")
    assert columns.codes().tolist() == [0, 1, 0]


def test_zeros_are_one_key_whatever_their_sign() -> None:
    columns = columns_of(pa.array([-0.0, 0.0, 1.0]))
    assert columns.keys() == (0.0, 1.0)
    assert columns.codes().tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "keys",
    [
        pa.array(["a", "b", None]),
        pa.array(["a", "b", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 0, 1]), pa.array(["a", None])),
    ],
)
def test_a_row_without_a_key_is_refused(keys: pa.Array) -> None:
    assert refusal(keys) == (2, "there is no key")


def test_not_a_number_is_no_key() -> None:
    assert refusal(pa.array([1.0, 2.0, 1.0, float("nan")])) == (
        3,
        "key nan does not equal itself, so it cannot be a key",
    )


def test_bytes_that_are_no_utf_8_are_no_key() -> None:
    raw = pa.array([b"a", b"a", b"\xff", b"b"])
    keys = pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2])
    assert refusal(keys) == (2, r"key b'\xff' is not text in UTF-8")


def test_a_key_that_python_has_no_value_for_is_refused() -> None:
    row, reason = refusal(pa.array([0, 0, 1 << 60], pa.timestamp("s")))
    assert row == 2
    assert reason.startswith("key of type timestamp[s]: ")


@pytest.mark.parametrize("keys", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_values_that_cannot_be_hashed_are_no_keys(keys: list[object]) -> None:
    column = pa.array(keys)
    assert refusal(column) == (0, f"values of type {column.type} cannot be keys")


def test_keys_of_another_type_than_those_before_are_refused() -> None:
    assert columns_of(pa.array([1], pa.int8()), pa.array([1], pa.uint64())).keys() == (1,)
    assert refusal(pa.array([1]), pa.array([True])) == (
        0,
        "key True of type bool comes after keys of type int",
    )


# Times


def test_times_are_kept_from_batch_to_batch() -> None:
    columns = TraceColumns()
    columns.add(pa.array([1, 2]), pa.array(["a", "b"]))
    columns.add(pa.array([], pa.int64()), pa.array([], pa.string()))
    columns.add(pa.array([2.0, 2.5]).dictionary_encode(), pa.array(["b", "a"]))
    assert columns.times().tolist() == [1.0, 2.0, 2.0, 2.5]


def test_no_rows_are_empty_columns() -> None:
    columns = TraceColumns()
    assert (columns.times().size, columns.codes().size, columns.keys()) == (0, 0, ())


def test_rows_of_one_time_keep_their_order() -> None:
    columns = TraceColumns()
    columns.add(pa.array([1] * 6, pa.timestamp("s")), pa.array(list("cabcab")))
    assert [columns.keys()[code] for code in columns.codes()] == list("cabcab")


def test_the_first_row_that_is_before_the_one_above_it_is_refused() -> None:
    assert order_refusal(pa.array([1.0, 4.0, 3.0, 2.0])) == (
        2,
        "time 3.0 is before the one above it, 4.0; sort the rows by time",
    )


def test_a_batch_that_begins_before_the_end_of_the_one_before_is_refused() -> None:
    batches = pa.array([0, 5], pa.timestamp("s")), pa.array([4, 3], pa.timestamp("s"))
    time, last = "1970-01-01 00:00:04", "1970-01-01 00:00:05"
    assert order_refusal(*batches, above="that of x.csv") == (
        0,
        f"time {time} is before that of x.csv, {last}; sort the rows by time",
    )
    assert order_refusal(pa.array([0]), pa.array([4, 3]), above="that of x.csv") == (
        1,
        "time 3 is before the one above it, 4; sort the rows by time",
    )


@pytest.mark.parametrize(
    "times", [pa.array([1, None, 3]), pa.array([1, None, 3]).dictionary_encode()]
)
def test_a_row_without_a_time_is_refused(times: pa.Array) -> None:
    assert order_refusal(times) == (1, "there is no time")
