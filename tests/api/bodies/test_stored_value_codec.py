"""Stored values come back from a page pool as they were, type and all."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given

from api.bodies.packed_values import PackedValue
from api.bodies.stored_value_codec import StoredValueCodec
from upstream import OnDemandMemory, PagePool, Stream, ValueNotEncodableError
from upstream.memory import Codec

from .examples import documents, encode_json, encode_messagepack

CODEC: Codec = StoredValueCodec()


@given(documents)
def test_every_stored_value_comes_back(value: object) -> None:
    for stored in (encode_json(value), PackedValue(encode_messagepack(value)), value):
        restored = CODEC.decode(CODEC.encode(stored))
        assert restored == stored
        assert type(restored) is type(stored)


@pytest.mark.parametrize("value", [2**64, object(), {"a": dt.timezone}, "\ud800"])
def test_what_is_never_stored_is_refused(value: object) -> None:
    with pytest.raises(ValueNotEncodableError):
        CODEC.encode(value)


def test_values_of_all_kinds_share_a_page_pool() -> None:
    pool = PagePool(1 << 16, page_bytes=4096, location_bytes=16)
    stream = Stream(memory=OnDemandMemory(pool), codec=CODEC)
    values = [b'{"bid":1.10,"ask":1.20}', PackedValue(b"\xc3"), {"bid": 1.1}, "text", None, 1.5]
    stream.enqueue_many(list(range(len(values))), values)
    assert [update.value for update in stream.snapshot()] == values
    assert [type(update.value) for update in stream.snapshot()] == list(map(type, values))
