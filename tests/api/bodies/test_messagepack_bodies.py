"""Bodies of MessagePack, of the same shapes as JSON."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import reasons
from api.bodies.errors import MalformedBodyError, TooManyRowsError
from api.bodies.limits import Limits
from api.bodies.messagepack_bodies import MessagePackBodies
from api.bodies.packed_values import PackedValue
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
def test_what_is_no_array_or_map_is_malformed(body: bytes) -> None:
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
def test_what_was_written_is_read(updates: list[tuple[Key, float, object]]) -> None:
    batch = BODIES.read(encode_messagepack(updates))
    assert not batch.rejections
    assert batch.keys == [key for key, _, _ in updates]
    assert batch.times == [time for _, time, _ in updates]
    assert batch.values == [encode_messagepack(value) for _, _, value in updates]
