"""An Arrow stream from an untrusted client becomes a safe table, or is refused."""

from __future__ import annotations

import random
import struct

import pyarrow as pa
import pytest

from api.bodies.arrow.stream import check_messages, read_table
from api.bodies.errors import (
    BodyError,
    MalformedBodyError,
    TooManyRowsError,
    UnsupportedColumnError,
)
from api.bodies.reasons import Limits

from ..arrow_streams import body_of, stream_of
from ..examples import damaged

LIMITS = Limits(rows=10)
BODY = body_of(key=["a", "b"], value=[1.0, 2.0])
END = 8
"""How many bytes mark the end of a stream."""


def test_the_batches_of_a_stream_become_one() -> None:
    batches = [
        pa.record_batch({"key": pa.array(keys).dictionary_encode(), "value": [1.0, 2.0]})
        for keys in (["a", "b"], ["b", "c"], ["c", "c"])
    ]
    layout, table = read_table(stream_of(*batches), LIMITS)
    assert (layout.key, layout.values) == (0, (1,))
    assert table.column("key").to_pylist() == ["a", "b", "b", "c", "c", "c"]
    assert table.column("key").num_chunks == 1
    assert table.column("key").chunk(0).dictionary.to_pylist() == ["a", "b", "c"]


def test_dictionaries_that_cannot_be_put_together_are_refused_with_a_reason() -> None:
    keys = [
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(names))
        for names in (["a", None], ["b"])
    ]
    body = stream_of(*(pa.record_batch({"key": key, "value": [1.0]}) for key in keys))
    with pytest.raises(UnsupportedColumnError, match="contain null"):
        read_table(body, LIMITS)


def test_a_stream_without_batches_is_a_table_without_rows() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema({"key": pa.string(), "value": pa.int64()})):
        pass
    assert read_table(bytes(sink.getvalue()), LIMITS)[1].num_rows == 0


def test_a_stream_may_end_without_its_mark() -> None:
    assert read_table(BODY[:-END], LIMITS)[1].num_rows == 2


@pytest.mark.parametrize("rest", [b"x", b"\0" * 8, BODY])
def test_bytes_after_the_end_are_an_error(rest: bytes) -> None:
    with pytest.raises(MalformedBodyError, match="follow the end") as raised:
        read_table(BODY + rest, LIMITS)
    assert raised.value.position == len(BODY)


@pytest.mark.parametrize("body", [b"", b"text", BODY[:40], BODY[:-40], BODY[8:], b"\xff" * 100])
def test_a_body_that_is_not_a_stream_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read_table(body, LIMITS)


def words(*integers: int) -> bytes:
    """Return integers as Arrow has them in offsets."""
    return b"".join(integer.to_bytes(4, "little", signed=True) for integer in integers)


TEXTS = pa.array(["some", "texts"])
CODES = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int32()), TEXTS)
LISTS = pa.array([[1.0, 2.0, 3.0, 4.0], [5.0] * 5])


@pytest.mark.parametrize(
    ("column", "sound", "unsound"),
    [
        (TEXTS, b"sometexts", b"some\xff\xfets"),
        (TEXTS, words(0, 4, 9), words(0, 4, 2**31 - 1)),
        (TEXTS, words(0, 4, 9), words(0, 9, 4)),
        (TEXTS, words(0, 4, 9), words(-4, 4, 9)),
        (CODES, words(1, 0), words(1, 2)),
        (CODES, words(1, 0), words(-1, 0)),
        (LISTS, words(0, 4, 9), words(0, 4, 10)),
        (LISTS, words(0, 4, 9), words(9, 4, 0)),
    ],
    ids=range(8),
)
def test_a_stream_that_could_crash_the_process_is_malformed(
    column: pa.Array, sound: bytes, unsound: bytes
) -> None:
    body = body_of(key=["a", "b"], value=column)
    assert body.count(sound) == 1
    assert read_table(body, LIMITS)[1].num_rows == 2
    with pytest.raises(MalformedBodyError):
        read_table(body.replace(sound, unsound), LIMITS)


def test_too_many_rows_are_an_error() -> None:
    batch = pa.record_batch({"key": ["a", "b"], "value": [1, 2]})
    assert read_table(stream_of(*[batch] * 5), LIMITS)[1].num_rows == 10
    with pytest.raises(TooManyRowsError):
        read_table(stream_of(*[batch] * 6), LIMITS)


def test_columns_that_cannot_be_read_are_refused_before_they_are() -> None:
    body = body_of(key=["a", "b"], value=[b"some", b"bytes"])
    with pytest.raises(UnsupportedColumnError):
        read_table(body.replace(words(0, 4, 9), words(9, 4, 0)), LIMITS)


# Messages that would unpack to more than they are, are found before they are unpacked

BATCH = pa.record_batch({"key": pa.array(["a", "b"]).dictionary_encode(), "value": [1.0, 2.0]})


def test_an_uncompressed_stream_is_accepted() -> None:
    check_messages(stream_of(BATCH, BATCH), LIMITS)
    check_messages(body_of(key=["a"], value=[{"a": [1]}]), LIMITS)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("column", [[1.0] * 10, pa.array(["a"] * 10).dictionary_encode()])
def test_compressed_buffers_are_refused(codec: str, column: object) -> None:
    batch = pa.record_batch({"value": column})
    with pytest.raises(MalformedBodyError, match="compressed"):
        check_messages(stream_of(batch, compression=codec), LIMITS)


def test_a_compressed_dictionary_is_refused_before_the_batch() -> None:
    body = stream_of(BATCH, compression="zstd")
    first = next(
        message for message in pa.ipc.MessageReader.open_stream(body) if message.type != "schema"
    )
    assert first.type == "dictionary"
    schema = body[: body.index(bytes(first.metadata)) - 8]
    with pytest.raises(MalformedBodyError, match="compressed"):
        check_messages(schema + bytes(first.serialize()), LIMITS)


def test_dictionary_deltas_are_refused() -> None:
    more = pa.DictionaryArray.from_arrays(pa.array([2]), pa.array(["a", "b", "c"]))
    fewer = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["a", "b"]))
    batches = [pa.record_batch({"key": keys}) for keys in (fewer, more)]
    check_messages(stream_of(*batches), LIMITS)
    with pytest.raises(MalformedBodyError, match="deltas"):
        check_messages(stream_of(*batches, emit_dictionary_deltas=True), LIMITS)


def test_too_many_rows_are_found_without_reading_them() -> None:
    nothing = pa.record_batch({"value": pa.nulls(11)})
    with pytest.raises(TooManyRowsError) as raised:
        check_messages(stream_of(nothing), LIMITS)
    assert raised.value.limit == 10


def test_too_many_batches_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.bodies.arrow.stream.MOST_BATCHES", 3)
    plain = pa.record_batch({"value": [1.0]})
    check_messages(stream_of(*[plain] * 3), LIMITS)
    with pytest.raises(MalformedBodyError, match="more than 3 record batches"):
        check_messages(stream_of(*[plain] * 4), LIMITS)


def test_tensors_are_refused() -> None:
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(pa.array([1.0]).to_numpy()), sink)
    with pytest.raises(MalformedBodyError, match="nothing else"):
        check_messages(bytes(sink.getvalue()), LIMITS)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_metadata_is_refused_and_no_more(seed: int) -> None:
    rng = random.Random(seed)
    body = stream_of(BATCH)
    refused = 0
    for _ in range(500):
        try:
            check_messages(damaged(body, rng), LIMITS)
        except (BodyError, pa.ArrowException, OSError):
            refused += 1
        except struct.error:
            pytest.fail("metadata was read past its end")
    assert refused
