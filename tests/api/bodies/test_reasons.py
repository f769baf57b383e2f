"""A reason for each error of a decoder; `test_json_bodies` has the bodies that cause them."""

from __future__ import annotations

import msgspec
import pytest

from api.bodies import reasons
from api.bodies.reasons import Limits
from api.bodies.wire import REFUSALS, update_type

LIMITS = Limits(key_bytes=4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"key":"abcde","value":1}', reasons.bad_key(LIMITS)),
        (b'{"key":"a","value":1', reasons.SYNTAX),
        (b'{"key":"a","value":' + b"[" * 100_000, reasons.too_deep(LIMITS)),
    ],
    ids=["key", "end", "depth"],
)
def test_an_error_of_a_decoder_has_its_reason(text: bytes, reason: str) -> None:
    with pytest.raises(REFUSALS) as raised:
        msgspec.json.decode(text, type=update_type(LIMITS))
    assert reasons.of_error(raised.value, LIMITS) == reason


def test_equal_limits_are_one_key() -> None:
    assert {Limits(): "kept"}[Limits()] == "kept"
    assert Limits(depth=3) != Limits()
