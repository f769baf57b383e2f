"""Arrow tables as bodies."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream import ColumnTypeError, ParameterError
from upstream.client.arrow_bodies import arrow_bodies
from upstream.client.batches import BODY_BYTES


def table(rows: int, offset: int = 0) -> pa.Table:
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


def test_a_table_goes_as_it_is_and_its_keys_stay_codes() -> None:
    [(rows, body)] = arrow_bodies(table(10), 100)
    assert rows == 10
    again = read(body)
    assert pa.types.is_dictionary(again.schema.field("key").type)
    assert again.to_pylist() == table(10).to_pylist()


def test_a_large_table_goes_in_several_bodies() -> None:
    assert values(list(arrow_bodies(table(10), 4))) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_small_batches_go_together() -> None:
    parts = pa.concat_tables([table(2, offset=2 * part) for part in range(5)])
    assert values(list(arrow_bodies(parts, 4))) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_batches_with_dictionaries_of_their_own_go_together() -> None:
    first, second = table(2), table(2, offset=2)
    [(rows, body)] = arrow_bodies(pa.concat_tables([first, second]), 100)
    assert rows == 4
    assert read(body)["key"].to_pylist() == ["k0", "k1", "k2", "k0"]


def test_a_batch_and_a_reader_are_as_good() -> None:
    batch = table(3).to_batches()[0]
    assert values(list(arrow_bodies(batch, 100))) == [[0, 1, 2]]
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch.slice(1)])
    assert values(list(arrow_bodies(reader, 100))) == [[0, 1, 2, 1, 2]]


def test_nothing_is_no_body() -> None:
    assert list(arrow_bodies(table(0), 100)) == []
    reader = pa.RecordBatchReader.from_batches(table(0).schema, [])
    assert list(arrow_bodies(reader, 100)) == []


@pytest.mark.parametrize("size", [0, -5, 1.5])
def test_a_size_that_makes_no_sense_is_refused(size: int) -> None:
    with pytest.raises(ParameterError, match="batch_size"):
        list(arrow_bodies(table(3), size))


def test_a_body_is_no_longer_than_the_service_takes() -> None:
    values = pa.array(["x" * 50_000] * 400)
    long = pa.table({"key": pa.array(range(400)), "value": values})
    found = list(arrow_bodies(long, 1_000))
    assert len(found) == 3
    assert all(len(body) <= BODY_BYTES for _, body in found)
    assert [key for _, body in found for key in read(body)["key"].to_pylist()] == list(range(400))
    [whole, *_] = arrow_bodies(long.slice(0, 100), 1_000)
    assert whole[0] == 100


@pytest.mark.parametrize("is_ordered", [False, True])
def test_of_a_long_dictionary_only_what_is_used_goes(*, is_ordered: bool) -> None:
    names = pa.array([f"instrument-{number:09d}" for number in range(100_000)])
    codes = pa.array([99_999, 7, None, 7], pa.int32())
    keys = pa.DictionaryArray.from_arrays(codes, names, ordered=is_ordered)
    [(_, body)] = arrow_bodies(pa.table({"key": keys, "value": [1, 2, 3, 4]}), 10)
    assert len(body) < 2_000
    again = read(body)["key"]
    assert again.type == keys.type
    assert again.to_pylist() == [names[99_999].as_py(), names[7].as_py(), None, names[7].as_py()]


@pytest.mark.parametrize("other", [[1], {"key": ["a"]}, None])
def test_what_is_not_arrows_is_refused(other: object) -> None:
    with pytest.raises(ColumnTypeError, match="Arrow"):
        list(arrow_bodies(other, 100))
