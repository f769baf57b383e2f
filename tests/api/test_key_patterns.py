"""Numbers by patterns of keys."""

from __future__ import annotations

import fnmatch
import importlib.util
import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from api.key_patterns import MOST_CHARACTERS, KeyPatterns
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


signs = "ab*?[]!^&|~\\\n"


@given(pattern=st.text(alphabet=signs, max_size=12), text=st.text(alphabet=signs, max_size=8))
def test_patterns_mean_what_the_shell_means_by_them(pattern: str, text: str) -> None:
    found = KeyPatterns({pattern: 2.0}, otherwise=1.0)(text) == 2.0
    assert found == (fnmatchcase(text, pattern) or text == pattern)


# Where a range that ends before it starts is followed by `!`, fnmatch takes that for the negation.
@example(negation="", characters="b-a")
@example(negation="!", characters="b-a")
@given(negation=st.sampled_from(["", "!"]), characters=st.text("abc-]^", min_size=1, max_size=7))
def test_a_set_holds_the_characters_that_the_shell_says(negation: str, characters: str) -> None:
    pattern = f"[{negation}{characters}]"
    weight = KeyPatterns({pattern: 2.0}, otherwise=1.0)
    found = {text for text in "abcd-!]^[" if weight(text) == 2.0}
    assert found == {text for text in "abcd-!]^[" if fnmatchcase(text, pattern)}


def test_patterns_do_not_depend_on_how_fnmatch_ends_its_expressions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fnmatch, "translate", lambda pattern: f"(?s:{pattern})\\z")  # as in 3.14
    spec = importlib.util.find_spec("api.key_patterns")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.KeyPatterns({"G?O*": 2.0}, otherwise=1.0)("GOOG") == 2.0


def test_many_patterns_are_asked_in_their_order() -> None:
    numbers = {f"K{number}*": float(number) for number in range(10, 74)}
    weight = KeyPatterns(numbers, otherwise=1.0)
    assert [weight(f"K{number}x") for number in (10, 42, 73, 74)] == [10.0, 42.0, 73.0, 1.0]
