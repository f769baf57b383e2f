"""Numbers by patterns of keys."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.key_patterns import MOST_CHARACTERS, KeyPatterns, text_of
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


def test_patterns_of_all_lengths_that_are_allowed_take_milliseconds() -> None:
    each = MOST_CHARACTERS // 8
    weight = KeyPatterns({"*" + "?" * (each - 2) + f"{end}": 2.0 for end in range(8)}, otherwise=1)
    started = time.perf_counter()
    for _ in range(10):
        assert weight("a" * 1_024) == 1.0
    assert time.perf_counter() - started < 1


signs = st.text(alphabet="ab*?[]!", max_size=8)


@given(pattern=signs, text=st.text(alphabet="ab[]!", max_size=8))
def test_patterns_mean_what_the_shell_means_by_them(pattern: str, text: str) -> None:
    found = KeyPatterns({pattern: 2.0}, otherwise=1.0)(text) == 2.0
    assert found == (fnmatchcase(text, pattern) or text == pattern)


def test_many_patterns_are_asked_in_their_order() -> None:
    numbers = {f"K{number}*": float(number) for number in range(10, 74)}
    weight = KeyPatterns(numbers, otherwise=1.0)
    assert [weight(f"K{number}x") for number in (10, 42, 73, 74)] == [10.0, 42.0, 73.0, 1.0]
