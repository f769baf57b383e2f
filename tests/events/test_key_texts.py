"""Keys that are equal have one text, others have others, and each is a line that reads back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import Key
from upstream.events import key_of, key_text

ODD_KEYS: list[Key] = [
    *("IBM", "0700.HK", "a b", " a ", "a,b", "a;b", "a'b", 'a"b', '"', '""', "\\", "\\n", "a\\nb"),
    *("", "null", "true", "1.5", "-x", "7", "-7", "007", "0", "\u0667", "[x", "[]", '["a",1]'),
    *('"7"', '"\\u0000"', "a\nb", "a\r\nb", "\n", "a\tb", "\0", "a\0b", "\x85", "a\u2028b"),
    *("\ufeff", "\ud800", "a\udfffb", '\ud800"', "\N{FISH}", "é", "e\u0301", "{}", "#", "_", "-"),
    *("1e5", "-Infinity", "NaN", "192.168.0.1", "2024-01-02", '{"bytes":"61"}', "{x"),
    *(7, -7, 0, 2**62, ("a", 1), ("a", "1"), ("a",), ("a\nb", 1), ("\ud800",), ("",), ()),
    *(None, 1.5, -0.1, 1e-7, 1e300, float("inf"), (None,), (1.5, (b"a",)), b"", b"a", b"\n"),
    *(dt.date(2024, 1, 2), dt.datetime(2024, 1, 2), dt.time(1, 2), dt.timedelta(days=-1)),
    *(dt.datetime(2024, 1, 2, tzinfo=dt.UTC), UUID(int=7), Decimal("0.1"), Fraction(1, 3)),
]
INDIA = dt.timezone(dt.timedelta(hours=5.5))

scalars = st.one_of(
    st.text(st.characters()),
    st.sampled_from([key for key in ODD_KEYS if isinstance(key, str)]),
    st.integers(),
    st.floats(allow_nan=False),
    st.none() | st.booleans() | st.binary() | st.uuids() | st.timedeltas(),
    st.dates() | st.datetimes() | st.datetimes(timezones=st.just(INDIA)) | st.times(),
    st.decimals(allow_nan=False) | st.fractions(),
)
keys = st.recursive(scalars, lambda parts: st.lists(parts, max_size=3).map(tuple), max_leaves=4)


def test_no_two_keys_have_the_same_text() -> None:
    for one, other in combinations(ODD_KEYS, 2):
        assert key_text(one) != key_text(other), (one, other)


@pytest.mark.parametrize("key", ODD_KEYS, ids=range(len(ODD_KEYS)))
def test_a_text_is_one_line_of_utf8_and_reads_back(key: Key) -> None:
    text = key_text(key)
    assert len(text.splitlines()) == 1
    assert "\0" not in text
    text.encode()
    assert key_of(text) == key


@given(keys)
def test_any_key_reads_back(key: Key) -> None:
    text = key_text(key)
    assert key_of(text) == key
    assert len(text.splitlines()) == 1
    text.encode()


@given(keys, keys)
def test_texts_are_the_same_exactly_if_the_keys_are_equal(one: Key, other: Key) -> None:
    assert (key_text(one) == key_text(other)) == (one == other)


@pytest.mark.parametrize(
    "alike",
    [
        (1, 1.0, True, np.int64(1), np.float32(1), Decimal("1.00"), Fraction(1)),
        (0.5, np.float32(0.5), Decimal("0.50"), Fraction(1, 2)),
        (0.0, -0.0, 0, False),
        (Decimal("0.10"), Decimal("0.1"), Fraction(1, 10)),
        ((1, "a"), (1.0, "a"), (True, np.str_("a"))),
        (dt.datetime(2024, 1, 2, 5, 30, tzinfo=INDIA), dt.datetime(2024, 1, 2, tzinfo=dt.UTC)),
    ],
    ids=["one", "half", "zero", "tenth", "tuple", "moment"],
)
def test_keys_that_are_one_key_to_a_queue_have_one_text(alike: tuple[Key, ...]) -> None:
    assert len(set(alike)) == 1
    assert len({key_text(key) for key in alike}) == 1


@pytest.mark.parametrize("text", ["[x", "{x", '"', "007", '"a" b', "{,}"])
def test_a_text_of_an_earlier_version_that_only_looks_like_json_is_a_string(text: str) -> None:
    assert key_of(text) == text


def test_a_key_of_another_type_is_written_by_its_repr_and_cannot_be_read_back() -> None:
    assert key_text(1 + 2j) == '{"complex":"(1+2j)"}'
    for text in ('{"complex":"(1+2j)"}', '{"a":1,"b":2}', "{}"):
        with pytest.raises(ValueError, match="cannot be read back"):
            key_of(text)
