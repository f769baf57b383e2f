"""Numbers, keys and values as people read them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.cli.formatting import count, duration, key_text, rate, times, value_text
from upstream.client import Key

texts = st.text(st.characters(codec="utf-8"))
keys = texts | st.integers(-(2**63), 2**63 - 1) | st.tuples(texts, st.integers(0, 9))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0, "0 s"),
        (1e-9, "<1 us"),
        (0.000012, "12 us"),
        (0.0999, "99.9 ms"),
        (0.25, "250 ms"),
        (1.234, "1.23 s"),
        (86_400, "86,400.0 s"),
    ],
)
def test_durations_are_in_the_unit_that_suits_them(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_rates_and_ratios_are_short() -> None:
    assert [rate(x) for x in (None, 0, 0.5, 9.99, 10, 1e6)] == [
        *("-", "0", "0.50", "9.99", "10", "1,000,000")
    ]
    assert [times(x) for x in (None, 1, 9.99, 10, 1_000, 1_001)] == [
        *("-", "1.00x", "9.99x", "10x", "1000x", ">1000x")
    ]


def test_a_noun_is_plural_unless_the_number_is_one() -> None:
    assert [count(n, "key") for n in (0, 1, 2)] == ["0 keys", "1 key", "2 keys"]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("GM/A b", "GM/A b"),
        ("Zürich", "Zürich"),
        ("[bold]", '"[bold]"'),
        ("", '""'),
        (" a", '" a"'),
        ("null", '"null"'),
        ("1.5", '"1.5"'),
        ('"a"', '"\\"a\\""'),
        ("a\nb", '"a\\nb"'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("\x9b31m\u202e", '"\\u009b31m\\u202e"'),
        ("\U000e0001", '"\\udb40\\udc01"'),
        (-7, "-7"),
        (("a", 1), '["a",1]'),
        (None, "-"),
    ],
)
def test_a_key_can_be_told_from_others(key: Key | None, text: str) -> None:
    assert key_text(key) == text


@given(keys)
def test_the_text_of_a_key_determines_the_key(key: Key) -> None:
    text = key_text(key)
    assert text.isprintable()
    try:
        again = msgspec.json.decode(text, type=Key)
    except msgspec.DecodeError:
        again = text
    assert again == key


@given(st.recursive(texts | st.none() | st.integers(), st.lists, max_leaves=5))
def test_the_text_of_a_value_is_json_without_control_characters(value: object) -> None:
    text = value_text(value)
    assert text.isprintable()
    assert msgspec.json.decode(text) == value
