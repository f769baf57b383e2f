"""Stored values, whatever they came as, can be had as JSON and as Python objects."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies.packed_values import PackedValue
from api.bodies.stored import json_value, python_value, stored_length
from upstream import TOMBSTONE

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
def test_the_length_of_what_is_encoded_is_exact(stored: bytes) -> None:
    assert stored_length(stored) == 6


@given(plain | st.just(TOMBSTONE))
def test_the_length_of_other_values_is_about_right(value: object) -> None:
    exact = len(json_value(value))
    assert exact / 8 <= stored_length(value) + 8
    assert stored_length(value) <= 10 * exact
