"""What decoders raise becomes a sentence that helps and repeats nothing."""

from __future__ import annotations

import msgspec
import pytest

from api.bodies import reasons
from api.bodies.reasons import Limits
from api.bodies.wire import REFUSALS, row_type, update_type

LIMITS = Limits(key_bytes=4)
KEY = reasons.bad_key(LIMITS)


KNOWN = "known are key, value and time"


def reason_of(decoder: msgspec.json.Decoder[object], text: bytes) -> str:
    with pytest.raises(REFUSALS) as raised:
        decoder.decode(text)
    return reasons.of_error(raised.value, LIMITS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"value":1}', reasons.MISSING_MEMBER),
        (b'{"key":"a"}', reasons.MISSING_MEMBER),
        (b'{"key":"a","value":1,"secret":2}', "unknown member 'secret'; " + KNOWN),
        (
            b'{"key":"a","value":1,"` - at `$.key`":2}',
            "unknown member; " + KNOWN,
        ),
        (b'{"key":null,"value":1}', KEY),
        (b'{"key":1.0,"value":1}', KEY),
        (b'{"key":true,"value":1}', KEY),
        (b'{"key":{},"value":1}', KEY),
        (b'{"key":[],"value":1}', KEY),
        (b'{"key":[[1]],"value":1}', KEY),
        (b'{"key":"abcde","value":1}', KEY),
        (b'{"key":["abcde"],"value":1}', KEY),
        (b'{"key":9223372036854775808,"value":1}', KEY),
        (b'{"key":"a","value":1,"time":"3"}', reasons.TIME),
        (b'{"key":"a","value":1,"time":1e999}', reasons.TIME),
        (b'{"key":"a","value":1,"time":true}', reasons.TIME),
        (b'{"key":"\xff","value":1}', reasons.NOT_UTF8),
        (b'{"key":"\\ud800","value":1}', reasons.SYNTAX),
        (b'{"key":"a","value":1', reasons.SYNTAX),
        (b'{"key":"a","value":' + b"[" * 100_000, reasons.too_deep(LIMITS)),
        (b"3", reasons.NOT_AN_UPDATE),
    ],
)
def test_a_bad_object_has_its_reason(text: bytes, reason: str) -> None:
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(update_type(LIMITS))
    assert reason_of(decoder, text) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[]", reasons.ROW_LENGTH),
        (b'["a",1]', reasons.ROW_LENGTH),
        (b'["a",1,2,3]', reasons.ROW_LENGTH),
        (b"[1.5,1,2]", KEY),
        (b'[["abcde"],1,2]', KEY),
        (b'["a","1",2]', reasons.TIME),
    ],
)
def test_a_bad_row_has_its_reason(text: bytes, reason: str) -> None:
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(row_type(LIMITS))
    assert reason_of(decoder, text) == reason


def test_equal_limits_are_one_key() -> None:
    assert {Limits(): "kept"}[Limits()] == "kept"
    assert Limits(depth=3) != Limits()
