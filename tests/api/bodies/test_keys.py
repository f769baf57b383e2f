"""Keys in bodies and in paths."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from api.bodies import reasons
from api.bodies.errors import InvalidKeyError
from api.bodies.keys import any_has_nul, has_nul, key_type, read_key, read_path_key
from api.bodies.reasons import Limits
from upstream import Key

from .examples import encode_json, keys

LIMITS = Limits()
SMALL = Limits(key_bytes=4)

NO_KEYS = [
    *(None, True, 1.5, 1.0, {}, [], [None], [True], [[1]], [1.5], {"a": 1}),
    *(2**63, -(2**63) - 1, [2**63], "x" * 1025, ["x" * 1025], list(range(17))),
]


@given(keys)
def test_every_key_is_read_as_it_is(key: Key) -> None:
    assert read_key(list(key) if isinstance(key, tuple) else key, LIMITS) == key
    assert read_path_key(encode_json(key).decode(), as_json=True, limits=LIMITS) == key


@pytest.mark.parametrize("value", NO_KEYS, ids=lambda value: type(value).__name__)
def test_nothing_else_is_a_key(value: object) -> None:
    with pytest.raises(InvalidKeyError) as raised:
        read_key(value, LIMITS)
    assert raised.value.reason == reasons.bad_key(LIMITS)
    with pytest.raises(InvalidKeyError):
        read_path_key(encode_json(value).decode(), as_json=True, limits=LIMITS)


def test_the_longest_and_greatest_are_keys() -> None:
    for key in ("x" * 1024, 2**63 - 1, -(2**63), ("x" * 1024,) * 16):
        assert read_key(key, LIMITS) == key


def test_a_string_is_limited_in_characters() -> None:
    assert read_path_key("éééé", as_json=False, limits=SMALL) == "éééé"
    with pytest.raises(InvalidKeyError, match="at most 4 characters"):
        read_path_key("ééééé", as_json=False, limits=SMALL)


def test_a_part_of_a_path_is_a_string_whatever_it_looks_like() -> None:
    assert read_path_key("7", as_json=False, limits=LIMITS) == "7"
    assert read_path_key('["a"]', as_json=False, limits=LIMITS) == '["a"]'
    assert read_path_key("7", as_json=True, limits=LIMITS) == 7


@pytest.mark.parametrize("text", ["", "IBM", "[", "01", "[1,]", "\N{SNOWMAN}", "[" * 100_000])
def test_a_part_of_a_path_that_is_no_json_is_no_key_as_json(text: str) -> None:
    with pytest.raises(InvalidKeyError):
        read_path_key(text, as_json=True, limits=LIMITS)


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("text", ["\ud800", '"\ud800"', "\0", '"\\u0000"'])
def test_half_a_surrogate_pair_and_nul_are_no_keys(text: str, as_json: bool) -> None:
    if as_json or '"' not in text:
        with pytest.raises(InvalidKeyError):
            read_path_key(text, as_json=as_json, limits=LIMITS)


def test_nul_is_found_in_any_part() -> None:
    assert has_nul("\0")
    assert has_nul((1, "a\0"))
    assert not has_nul((1, "a"))
    assert not has_nul(0)


@pytest.mark.parametrize("others", [[], ["a", "b"], ["a", 1], [("a", 1)]])
def test_nul_is_found_in_any_of_many_keys(others: list[Key]) -> None:
    assert not any_has_nul(others)
    assert any_has_nul([*others, "\0"])
    assert any_has_nul([*others, ("a", "\0")])


def test_the_type_is_made_once() -> None:
    assert key_type(Limits()) is key_type(Limits())
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert("xxxxx", key_type(SMALL))
