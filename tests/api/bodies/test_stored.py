"""Stored values can be converted to JSON and to Python objects, whatever their form."""

from __future__ import annotations

import datetime as dt

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies.stored import PackedValue, StoredValueCodec, json_value, python_value, stored_length
from upstream import TOMBSTONE, OnDemandMemory, PagePool, Stream, ValueNotEncodableError
from upstream.memory import Codec

from .examples import documents, encode_json, encode_messagepack

plain = documents.filter(lambda value: not isinstance(value, bytes))


@given(plain)
def test_a_value_is_the_same_however_it_is_stored(value: object) -> None:
    for stored in (encode_json(value), PackedValue(encode_messagepack(value)), value):
        assert python_value(stored) == value
        assert msgspec.json.decode(json_value(stored)) == value
        assert b"\n" not in json_value(stored)


def test_json_stays_as_it_is_spelt() -> None:
    text = b"1.10"
    assert json_value(text) is text


def test_a_deletion_is_null() -> None:
    assert json_value(TOMBSTONE) == b"null"
    assert python_value(TOMBSTONE) is None


@pytest.mark.parametrize("stored", [b"123456", PackedValue(b"123456")])
def test_the_length_of_an_encoded_value_is_exact(stored: bytes) -> None:
    assert stored_length(stored) == 6


@given(plain | st.just(TOMBSTONE))
def test_the_length_of_other_values_is_about_right(value: object) -> None:
    exact = len(json_value(value))
    assert exact / 8 <= stored_length(value) + 8
    assert stored_length(value) <= 10 * exact


CODEC: Codec = StoredValueCodec()


@given(documents)
def test_every_stored_value_comes_back(value: object) -> None:
    for stored in (encode_json(value), PackedValue(encode_messagepack(value)), value):
        restored = CODEC.decode(CODEC.encode(stored))
        assert restored == stored
        assert type(restored) is type(stored)


@pytest.mark.parametrize("value", [2**64, object(), {"a": dt.timezone}, "\ud800"])
def test_an_object_that_is_never_stored_is_refused(value: object) -> None:
    with pytest.raises(ValueNotEncodableError):
        CODEC.encode(value)


def test_values_of_all_kinds_share_a_page_pool() -> None:
    pool = PagePool(1 << 16, page_bytes=4096, location_bytes=16)
    stream = Stream(memory=OnDemandMemory(pool), codec=CODEC)
    values = [b'{"bid":1.10,"ask":1.20}', PackedValue(b"\xc3"), {"bid": 1.1}, "text", None, 1.5]
    stream.enqueue_many(list(range(len(values))), values)
    assert [update.value for update in stream.snapshot()] == values
    assert [type(update.value) for update in stream.snapshot()] == list(map(type, values))
