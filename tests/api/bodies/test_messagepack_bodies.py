"""Bodies of MessagePack, of the same shapes as JSON."""

from __future__ import annotations

import datetime as dt
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import reasons
from api.bodies.errors import MalformedBodyError, RefusedRowError, TooManyRowsError
from api.bodies.messagepack_bodies import MessagePackBodies, PackedValues
from api.bodies.reasons import Limits
from api.bodies.stored import PackedValue
from upstream import Key

from .examples import NOW, documents, encode_messagepack, keys, times

LIMITS = Limits()
BODIES = MessagePackBodies(LIMITS, lambda: NOW)

OBJECT = {"key": "a", "value": 1}
ROW = ["b", 2, 3]


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        (OBJECT, (["a"], [b"\x01"], None)),
        ({**OBJECT, "time": 2}, (["a"], [b"\x01"], [2.0])),
        ([], ([], [], [])),
        ([OBJECT], (["a"], [b"\x01"], None)),
        ([ROW], (["b"], [b"\x03"], [2.0])),
        ([ROW, OBJECT], (["b", "a"], [b"\x03", b"\x01"], [2.0, NOW])),
        ([[["a", 1], None, [True]]], ([("a", 1)], [b"\x91\xc3"], None)),
        ([ROW] * 20, (["b"] * 20, [b"\x03"] * 20, [2.0] * 20)),
        ([OBJECT] * 70_000, (["a"] * 70_000, [b"\x01"] * 70_000, None)),
    ],
    ids=range(9),
)
def test_a_body_is_an_update_or_an_array_of_maps_and_rows(
    body: object, columns: tuple[object, ...]
) -> None:
    batch = BODIES.read(encode_messagepack(body))
    assert batch.columns() == columns
    assert {type(value) for value in batch.values} <= {PackedValue}
    assert not batch.rejections
    assert batch.is_single == isinstance(body, dict)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (None, reasons.NOT_AN_UPDATE),
        ("a", reasons.NOT_AN_UPDATE),
        ({}, reasons.MISSING_MEMBER),
        ({**OBJECT, "extra": 1}, "unknown member 'extra'; known are key, value and time"),
        ({1: 2}, reasons.NOT_AN_UPDATE),
        (["a", 1], reasons.ROW_LENGTH),
        ([b"a", 1, 2], reasons.bad_key(LIMITS)),
        ([1.5, 1, 2], reasons.bad_key(LIMITS)),
        ([2**63, 1, 2], reasons.bad_key(LIMITS)),
        (["\0", 1, 2], f"key: {reasons.NUL}"),
        ([["a", "\0"], 1, 2], f"key: {reasons.NUL}"),
        (["a", math.nan, 2], reasons.TIME),
        (["a", math.inf, 2], reasons.TIME),
        (["a", "1", 2], reasons.TIME),
        (["a", 1, math.nan], reasons.NOT_JSON),
        (["a", 1, b"x"], reasons.NOT_JSON),
        (["a", 1, {"x": ["\0"]}], f"value: {reasons.NUL}"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("good", [OBJECT, ROW], ids=["object", "row"])
def test_a_bad_update_is_rejected_and_the_others_are_kept(
    bad: object, reason: str, good: object
) -> None:
    batch = BODIES.read(encode_messagepack([good, bad, good]))
    assert (len(batch.keys), batch.rows, batch.indices) == (2, 3, [0, 2])
    assert [(rejection.index, rejection.reason) for rejection in batch.rejections] == [(1, reason)]


def test_one_bad_update_is_rejected() -> None:
    batch = BODIES.read(encode_messagepack({"key": "a", "value": math.nan}))
    assert batch.is_single
    assert [rejection.reason for rejection in batch.rejections] == [reasons.NOT_JSON]


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"\x01", b"\xc1", b"\x91", b"\x91\xc1", b"\x92\x01", b"\xdd", b"\x81\xa3key"),
        *(b"\x90\x90", b"\x80\x01", b"\xdc\x00\x02\x01", b"\x91" * 100_000, b"\x81\x01" * 100_000),
        b"\x92\x93\xa1a\x01\x02" + b"\x91" * 100_000,
    ],
)
def test_a_body_that_is_not_an_array_or_map_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        BODIES.read(body)


@pytest.mark.parametrize("element", [0, ROW, OBJECT])
def test_too_many_rows_are_an_error(element: object) -> None:
    bodies = MessagePackBodies(Limits(rows=17), lambda: NOW)
    assert bodies.read(encode_messagepack([element] * 17)).rows == 17
    with pytest.raises(TooManyRowsError):
        bodies.read(encode_messagepack([element] * 18))


def test_a_body_that_lies_about_its_rows_takes_no_memory() -> None:
    with pytest.raises(TooManyRowsError):
        BODIES.read(b"\xdd\xff\xff\xff\xff")


@given(st.lists(st.tuples(keys, times, documents)))
def test_updates_are_read_as_they_were_written(updates: list[tuple[Key, float, object]]) -> None:
    batch = BODIES.read(encode_messagepack(updates))
    assert not batch.rejections
    assert batch.keys == [key for key, _, _ in updates]
    assert batch.times == [time for _, time, _ in updates]
    assert batch.values == [encode_messagepack(value) for _, _, value in updates]


# Values stay encoded

SMALL = Limits(value_bytes=200, depth=3)
VALUES = PackedValues(SMALL)

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
    (encode_messagepack([[[[]]]]), reasons.too_deep(SMALL)),
    (encode_messagepack("x" * 199), reasons.too_long(SMALL)),
]


def raw(packed: bytes) -> msgspec.Raw:
    """Return a value as decoders of bodies leave it."""
    return msgspec.msgpack.decode(b"\x91" + packed, type=list[msgspec.Raw])[0]


@given(st.lists(documents))
def test_values_that_json_can_represent_are_stored_as_they_came(values: list[object]) -> None:
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


def test_a_packed_value_differs_from_json_by_its_type_only() -> None:
    assert PackedValue(b"\x01") == b"\x01"
    assert not hasattr(PackedValue(b"\x01"), "__dict__")
