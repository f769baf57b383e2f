"""Every key has a text that no other key has, which is one line of UTF-8 and reads back."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import Key
from upstream.events import key_text

ODD_KEYS: list[Key] = [
    *("IBM", "0700.HK", "a b", " a ", "a,b", "a;b", "a'b", 'a"b', '"', '""', "\\", "\\n", "a\\nb"),
    *("", "null", "true", "1.5", "-x", "7", "-7", "007", "0", "\u0667", "[x", "[]", '["a",1]'),
    *(
        '"7"',
        '"\\u0000"',
        "a\nb",
        "a\r\nb",
        "\n",
        "a\tb",
        "\0",
        "a\0b",
        "\x85",
        "a\u2028b",
        "\ufeff",
    ),
    *("\ud800", "a\udfffb", '\ud800"', "\N{FISH}", "é", "e\u0301", "{}", "#", "_", "-"),
    *(7, -7, 0, 2**62, ("a", 1), ("a", "1"), ("a",), ("a\nb", 1), ("\ud800",), ("",)),
]


def read_back(text: str) -> object:
    """Return the key that a text stands for."""
    looks_like_json = re.match(r'["\[]|-?[0-9]+\Z', text) is not None
    found = json.loads(text) if looks_like_json else text
    return tuple(found) if isinstance(found, list) else found


def test_no_two_keys_have_the_same_text() -> None:
    for one, other in combinations(ODD_KEYS, 2):
        assert key_text(one) != key_text(other), (one, other)


@pytest.mark.parametrize("key", ODD_KEYS, ids=range(len(ODD_KEYS)))
def test_a_text_is_one_line_of_utf8_and_reads_back(key: Key) -> None:
    text = key_text(key)
    assert len(text.splitlines()) == 1
    assert "\0" not in text
    text.encode()
    assert read_back(text) == key


@given(st.one_of(st.text(st.characters()), st.integers(), st.tuples(st.text(), st.integers())))
def test_any_key_reads_back(key: Key) -> None:
    assert read_back(key_text(key)) == key
