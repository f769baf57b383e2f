"""Numbers by patterns of keys."""

from __future__ import annotations

import time

import pytest

from api.key_patterns import KeyPatterns, text_of
from upstream import Key


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("GOOG", 5.0),
        ("GOLD", 2.0),
        ("GM", 3.0),
        ("IBM", 1.0),
        (7, 4.0),
        (("GM", 1), 6.0),
        ("GM\n", 1.0),
    ],
)
def test_an_exact_text_goes_before_the_first_pattern_that_matches(key: Key, number: float) -> None:
    numbers = {"GO*": 2.0, "GM": 3.0, "7": 4.0, "GOOG": 5.0, '["GM",*': 6.0, "G[AB]": 9.0}
    assert KeyPatterns(numbers, otherwise=1.0)(key) == number


def test_a_key_that_looks_like_a_pattern_is_found_by_its_text() -> None:
    assert KeyPatterns({"[a]": 2.0}, otherwise=1.0)("[a]") == 2.0
    assert KeyPatterns({"[a]": 2.0}, otherwise=1.0)("a") == 2.0


def test_the_text_of_a_key_that_is_no_string_is_its_json() -> None:
    assert [text_of(key) for key in ("a", 1, ("a", 1))] == ["a", "1", '["a",1]']


def test_no_pattern_takes_for_ever() -> None:
    weight = KeyPatterns({"*a" * 500: 2.0}, otherwise=1.0)
    started = time.perf_counter()
    assert weight("a" * 1_000 + "b") == 1.0
    assert time.perf_counter() - started < 5
