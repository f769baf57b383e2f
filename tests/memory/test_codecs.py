"""A codec gives back what it was given, or refuses it."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import re
import sys
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import ValueNotEncodableError
from upstream.extras import install_command
from upstream.memory.codecs import BytesCodec, Codec, JsonCodec, MessagePackCodec
from upstream.updates import TOMBSTONE


class Side(enum.Enum):
    BUY = "buy"


class Quote(NamedTuple):
    bid: float
    ask: float


NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)
RECURSIVE: list[object] = []
RECURSIVE.append(RECURSIVE)

scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text()
documents = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
anything = st.recursive(
    scalars | st.floats() | st.binary() | st.decimals() | st.datetimes() | st.uuids(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.floats(), inner)
        | st.sets(st.integers())
    ),
    max_leaves=10,
)


def comparable(value: object) -> object:
    """Return `value` with tuples as lists and a NaN that equals itself."""
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


@pytest.mark.parametrize("value", [b"", b"24.0", b"\x00" * 100])
def test_bytes_are_stored_as_they_are(value: bytes) -> None:
    codec = BytesCodec()
    assert codec.encode(value) is value
    assert codec.decode(value) is value


def test_a_bytearray_or_memoryview_is_copied() -> None:
    codec = BytesCodec()
    value = bytearray(b"24.0")
    encoded = [codec.encode(value), codec.encode(memoryview(value)[::2])]
    value[:] = b"0000"
    assert encoded == [b"24.0", b"2."]
    assert [type(data) for data in encoded] == [bytes, bytes]


@pytest.mark.parametrize("value", ["24.0", 24.0, None, [1], TOMBSTONE])
def test_bytes_are_all_that_the_bytes_codec_takes(value: object) -> None:
    with pytest.raises(ValueNotEncodableError) as raised:
        BytesCodec().encode(value)
    assert raised.value.value_type == type(value).__name__


@pytest.mark.parametrize("codec", [JsonCodec(), MessagePackCodec()])
@given(document=documents)
def test_documents_come_back_as_they_were(codec: Codec, document: object) -> None:
    assert codec.decode(codec.encode(document)) == document


@pytest.mark.parametrize("codec", [JsonCodec(), MessagePackCodec()])
@given(value=anything)
def test_any_value_comes_back_or_is_refused(codec: Codec, value: object) -> None:
    try:
        data = codec.encode(value)
    except ValueNotEncodableError:
        return
    assert comparable(codec.decode(data)) == comparable(value)


@pytest.mark.parametrize("codec", [JsonCodec(), MessagePackCodec()])
def test_tuples_come_back_as_lists(codec: Codec) -> None:
    assert codec.decode(codec.encode({"quote": (24.0, (1, "a"))})) == {"quote": [24.0, [1, "a"]]}


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, [1.0, math.nan], (math.nan,), {"bid": math.nan}),
        *({1: "a"}, {"a": 1, 2: "b"}, b"24.0", NOON, [NOON.date()]),
    ],
    ids=repr,
)
def test_json_refuses_what_it_would_change_and_message_pack_need_not(value: object) -> None:
    with pytest.raises(ValueNotEncodableError):
        JsonCodec().encode(value)


@pytest.mark.parametrize("value", [math.inf, {1: "a"}, {(1, 2): 3}, b"24.0", NOON], ids=repr)
def test_message_pack_takes_more_types_than_json(value: object) -> None:
    codec = MessagePackCodec()
    assert codec.decode(codec.encode(value)) == value


def test_message_pack_keeps_a_nan() -> None:
    codec = MessagePackCodec()
    decoded = codec.decode(codec.encode({"quote": (math.nan, 1.0)}))
    assert comparable(decoded) == {"quote": ["NaN", 1.0]}


@pytest.mark.parametrize("codec", [JsonCodec(), MessagePackCodec()])
@pytest.mark.parametrize(
    "value",
    [
        *(object(), 1 + 2j, {1, 2}, decimal.Decimal("1.5"), Side.BUY, Quote(1.0, 2.0), TOMBSTONE),
        *(NOON.replace(tzinfo=None), "\ud800", RECURSIVE, [{"a": {1}}]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_both_refuse_what_neither_can_give_back(codec: Codec, value: object) -> None:
    with pytest.raises(ValueNotEncodableError) as raised:
        codec.encode(value)
    assert raised.value.value_type == type(value).__name__


def test_message_pack_refuses_integers_of_more_than_64_bits_and_json_does_not() -> None:
    with pytest.raises(ValueNotEncodableError):
        MessagePackCodec().encode(2**64)
    codec = JsonCodec()
    assert codec.decode(codec.encode(2**64)) == 2**64


@pytest.mark.parametrize("codec", [JsonCodec, MessagePackCodec])
def test_a_missing_msgspec_is_named_with_the_extra_that_brings_it(
    codec: type[JsonCodec | MessagePackCodec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with pytest.raises(ImportError, match=re.escape(install_command("codecs"))):
        codec()
