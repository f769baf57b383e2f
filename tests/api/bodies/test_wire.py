"""The types that decoders are given."""

from __future__ import annotations

import gc

import msgspec
import pytest

from api.bodies.reasons import Limits
from api.bodies.wire import position_of, row_type, update_type

LIMITS = Limits()


def test_an_update_leaves_its_value_unread() -> None:
    update = msgspec.json.decode(b'{"value": [1.10 ],"key":"a"}', type=update_type(LIMITS))
    assert (update.key, bytes(update.value), update.time) == ("a", b"[1.10 ]", None)
    assert not gc.is_tracked(update)


def test_a_row_leaves_its_value_unread() -> None:
    key, time, value = msgspec.json.decode(b'[["a",1],3,1.10]', type=row_type(LIMITS))
    assert (key, time, bytes(value)) == (("a", 1), 3.0, b"1.10")


def test_an_integer_as_a_time_becomes_a_float() -> None:
    update = msgspec.json.decode(b'{"key":1,"value":1,"time":3}', type=update_type(LIMITS))
    assert type(update.time) is float


def test_the_position_is_where_the_decoder_stopped() -> None:
    for body, position in ((b"[1,x]", 3), (b"[1,", 3)):
        with pytest.raises(msgspec.DecodeError) as raised:
            msgspec.json.decode(body)
        assert position_of(raised.value, body) == position
