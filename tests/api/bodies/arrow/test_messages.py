"""Messages that would unpack to more than they are, are found before they are unpacked."""

from __future__ import annotations

import random
import struct

import pyarrow as pa
import pytest

from api.bodies.arrow import messages
from api.bodies.arrow.messages import check_messages
from api.bodies.errors import BodyError, MalformedBodyError, TooManyRowsError
from api.bodies.limits import Limits

from ..arrow_streams import body_of, stream_of
from ..examples import damaged

LIMITS = Limits(rows=10)
BATCH = pa.record_batch({"key": pa.array(["a", "b"]).dictionary_encode(), "value": [1.0, 2.0]})


def test_a_plain_stream_is_fine() -> None:
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
    monkeypatch.setattr(messages, "MOST_BATCHES", 3)
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
