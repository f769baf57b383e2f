"""Values in MessagePack are stored as the bytes that came, if JSON can say them too."""

from __future__ import annotations

import datetime as dt
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import reasons
from api.bodies.errors import RefusedRowError
from api.bodies.limits import Limits
from api.bodies.packed_values import PackedValue, PackedValues

from .examples import documents, encode_messagepack

LIMITS = Limits(value_bytes=200, depth=3)
VALUES = PackedValues(LIMITS)

BAD = [
    (encode_messagepack(math.nan), reasons.NOT_JSON),
    (encode_messagepack([1, {"a": math.inf}]), reasons.NOT_JSON),
    (b"\xca\x7f\xc0\x00\x00", reasons.NOT_JSON),  # NaN in 32 bits
    (encode_messagepack(b"bytes"), reasons.NOT_JSON),
    (encode_messagepack({1: 2}), reasons.NOT_JSON),
    (encode_messagepack({b"a": 2}), reasons.NOT_JSON),
    (b"\x81\x91\x01\x02", reasons.NOT_JSON),  # a map with a list as key
    (b"\x81\x80\x01", reasons.NOT_JSON),  # and with a map, which is not hashable
    (encode_messagepack(dt.datetime(2020, 1, 1, tzinfo=dt.UTC)), reasons.NOT_JSON),
    (b"\xd5\xff\x00\x00", reasons.NOT_JSON),  # a timestamp of impossible length
    (encode_messagepack(msgspec.msgpack.Ext(1, b"x")), reasons.NOT_JSON),
    (b"\xa1\xff", reasons.NOT_UTF8),
    (b"\xa3\xed\xa0\x80", reasons.NOT_UTF8),
    (b"\x81\xa1\xff\x01", reasons.NOT_UTF8),
    (encode_messagepack("a\0"), f"value: {reasons.NUL}"),
    (encode_messagepack({"\0": 1}), f"value: {reasons.NUL}"),
    (encode_messagepack([[[[]]]]), reasons.too_deep(LIMITS)),
    (encode_messagepack("x" * 199), reasons.too_long(LIMITS)),
]


def raw(packed: bytes) -> msgspec.Raw:
    """Return a value as decoders of bodies leave it."""
    return msgspec.msgpack.decode(b"\x91" + packed, type=list[msgspec.Raw])[0]


@given(st.lists(documents))
def test_what_json_can_say_is_stored_as_it_came(values: list[object]) -> None:
    packed = list(map(encode_messagepack, values))
    reader = PackedValues(Limits())
    assert [reader.read(raw(value)) for value in packed] == packed
    stored = reader.read_all([raw(value) for value in packed])
    assert stored == packed
    assert {type(value) for value in stored or ()} <= {PackedValue}


@pytest.mark.parametrize(("packed", "reason"), BAD, ids=repr)
def test_a_bad_value_is_refused_with_a_reason(packed: bytes, reason: str) -> None:
    with pytest.raises(RefusedRowError) as raised:
        VALUES.read(raw(packed))
    assert raised.value.reason == reason
    assert VALUES.read_all([raw(b"\x01"), raw(packed)]) is None


def test_many_values_may_be_longer_together_than_one_alone() -> None:
    packed = [encode_messagepack("x" * 190)] * 50
    assert VALUES.read_all([raw(value) for value in packed]) == packed


def test_a_packed_value_is_told_from_json_by_its_type_only() -> None:
    assert PackedValue(b"\x01") == b"\x01"
    assert not hasattr(PackedValue(b"\x01"), "__dict__")
