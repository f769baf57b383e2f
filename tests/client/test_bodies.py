"""Updates cut into bodies, as JSON and as Arrow."""

from __future__ import annotations

from collections import deque

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ColumnTypeError, ParameterError, ValueNotEncodableError
from upstream.client.bodies import (
    BODY_BYTES,
    arrow_bodies,
    bodies,
    check_batch_size,
    in_batches,
    next_body,
)
from upstream.client.encoding import Row


def test_a_body_has_at_most_the_given_number_of_rows() -> None:
    rows: list[Row] = [("k", None, number) for number in range(5)]
    found = list(bodies(rows, 2))
    assert [count for count, _ in found] == [2, 2, 1]
    assert found[2][1] == b'[["k",null,4]]'


def test_a_body_is_no_longer_than_the_service_accepts() -> None:
    rows: list[Row] = [(f"k{number}", None, "x" * 50_000) for number in range(1_000)]
    found = list(bodies(rows, 1_000))
    assert len(found) == 7
    assert all(len(body) <= BODY_BYTES for _, body in found)
    decoded = [row[0] for _, body in found for row in msgspec.json.decode(body)]
    assert decoded == [row[0] for row in rows]


def test_an_update_that_is_too_long_has_a_body_of_its_own() -> None:
    rows: list[Row] = [("a", None, 1), ("b", None, "x" * (BODY_BYTES + 1)), ("c", None, 2)]
    assert [count for count, _ in bodies(rows, 10)] == [1, 1, 1]


def test_a_batch_with_an_invalid_row_has_no_body() -> None:
    rows: list[Row] = [("a", None, 1), ("b", None, 2), ("c", None, float("nan"))]
    following = bodies(rows, 2)
    assert next(following)[0] == 2
    with pytest.raises(ValueNotEncodableError):
        next(following)


@given(st.lists(st.binary(min_size=1, max_size=3)), st.integers(1, 10))
def test_encoded_rows_keep_their_order(rows: list[bytes], size: int) -> None:
    remaining, taken = deque(rows), []
    while remaining:
        count, body = next_body(remaining, size)
        assert 1 <= count <= size
        taken.append(body[1:-1])
    assert b",".join(taken) == b",".join(rows)


@given(st.lists(st.integers()), st.integers(1, 10))
def test_batches_hold_all_items_in_their_order(items: list[int], size: int) -> None:
    batches = list(in_batches(items, size))
    assert [item for batch in batches for item in batch] == items
    assert all(len(batch) == size for batch in batches[:-1])
    assert all(batches)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "10", None])
def test_a_batch_size_is_a_whole_number(size: object) -> None:
    with pytest.raises(ParameterError, match="batch_size"):
        check_batch_size(size)


def table_of(rows: int, offset: int = 0) -> pa.Table:
    numbers = range(offset, offset + rows)
    return pa.table(
        {
            "key": pa.array([f"k{number % 3}" for number in numbers]).dictionary_encode(),
            "time": pa.array([float(number) for number in numbers]),
            "value": pa.array(list(numbers)),
        }
    )


def read(body: bytes) -> pa.Table:
    return pa.ipc.open_stream(body).read_all()


def values(bodies: list[tuple[int, bytes]]) -> list[list[int]]:
    for rows, body in bodies:
        assert read(body).num_rows == rows
    return [read(body)["value"].to_pylist() for _, body in bodies]


def test_a_table_keeps_the_codes_of_its_keys() -> None:
    [(rows, body)] = arrow_bodies(table_of(10), 100)
    assert rows == 10
    again = read(body)
    assert pa.types.is_dictionary(again.schema.field("key").type)
    assert again.to_pylist() == table_of(10).to_pylist()


def test_a_large_table_has_several_bodies() -> None:
    assert values(list(arrow_bodies(table_of(10), 4))) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_small_batches_share_a_body() -> None:
    parts = pa.concat_tables([table_of(2, offset=2 * part) for part in range(5)])
    assert values(list(arrow_bodies(parts, 4))) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_batches_with_different_dictionaries_share_a_body() -> None:
    first, second = table_of(2), table_of(2, offset=2)
    [(rows, body)] = arrow_bodies(pa.concat_tables([first, second]), 100)
    assert rows == 4
    assert read(body)["key"].to_pylist() == ["k0", "k1", "k2", "k0"]


def test_a_record_batch_and_a_reader_are_accepted() -> None:
    batch = table_of(3).to_batches()[0]
    assert values(list(arrow_bodies(batch, 100))) == [[0, 1, 2]]
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch.slice(1)])
    assert values(list(arrow_bodies(reader, 100))) == [[0, 1, 2, 1, 2]]


def test_an_empty_table_has_no_body() -> None:
    assert list(arrow_bodies(table_of(0), 100)) == []
    reader = pa.RecordBatchReader.from_batches(table_of(0).schema, [])
    assert list(arrow_bodies(reader, 100)) == []


@pytest.mark.parametrize("size", [0, -5, 1.5])
def test_an_invalid_number_of_rows_is_refused(size: int) -> None:
    with pytest.raises(ParameterError, match="batch_size"):
        list(arrow_bodies(table_of(3), size))


def test_an_arrow_body_is_no_longer_than_the_service_accepts() -> None:
    values = pa.array(["x" * 50_000] * 400)
    long = pa.table({"key": pa.array(range(400)), "value": values})
    found = list(arrow_bodies(long, 1_000))
    assert len(found) == 3
    assert all(len(body) <= BODY_BYTES for _, body in found)
    assert [key for _, body in found for key in read(body)["key"].to_pylist()] == list(range(400))
    [whole, *_] = arrow_bodies(long.slice(0, 100), 1_000)
    assert whole[0] == 100


@pytest.mark.parametrize("is_ordered", [False, True])
def test_unused_entries_of_a_long_dictionary_are_not_sent(*, is_ordered: bool) -> None:
    names = pa.array([f"instrument-{number:09d}" for number in range(100_000)])
    codes = pa.array([99_999, 7, None, 7], pa.int32())
    keys = pa.DictionaryArray.from_arrays(codes, names, ordered=is_ordered)
    [(_, body)] = arrow_bodies(pa.table({"key": keys, "value": [1, 2, 3, 4]}), 10)
    assert len(body) < 2_000
    again = read(body)["key"]
    assert again.type == keys.type
    assert again.to_pylist() == [names[99_999].as_py(), names[7].as_py(), None, names[7].as_py()]


@pytest.mark.parametrize("other", [[1], {"key": ["a"]}, None])
def test_anything_but_arrow_data_is_refused(other: object) -> None:
    with pytest.raises(ColumnTypeError, match="Arrow"):
        list(arrow_bodies(other, 100))
