"""Dense numbers for integers, and texts as words of 64 bits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.rows.word_codes import IntegerCodes, TextWords

ENDS = [-(2**63), 2**63 - 1, 0, -1]
INTEGERS = st.lists(st.one_of(st.sampled_from(ENDS), st.integers(-40, 40)), max_size=60)


def codes_of(codes: IntegerCodes, keys: list[int]) -> list[int]:
    found: list[int] = codes.codes_of(np.array(keys, np.int64)).tolist()
    return found


@given(st.lists(INTEGERS, max_size=8))
def test_each_integer_keeps_the_code_it_got_and_codes_are_dense(batches: list[list[int]]) -> None:
    codes, known = IntegerCodes(), dict[int, int]()
    for keys in batches:
        for key, code in zip(keys, codes_of(codes, keys), strict=True):
            assert known.setdefault(key, code) == code
        codes._check()
    assert sorted(known.values()) == list(range(len(codes)))


def test_codes_stay_when_the_table_grows() -> None:
    codes = IntegerCodes()
    keys = np.random.default_rng(1).permutation(50_000) * 1_000_003
    found = np.concatenate([codes.codes_of(batch) for batch in np.split(keys, 50)])
    codes._check()
    assert np.array_equal(codes.codes_of(keys), found)
    assert np.array_equal(np.sort(found), np.arange(50_000))


def test_integers_that_all_want_one_slot_get_codes_of_their_own() -> None:
    """The inverse of the multiplier maps these to consecutive products, all in the first slot."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    keys = (np.arange(300, dtype=np.uint64) * np.uint64(inverse)).view(np.int64)
    codes = IntegerCodes()
    assert len(set(codes.codes_of(keys).tolist())) == 300
    codes._check()


def test_nothing_is_looked_up_in_nothing() -> None:
    assert codes_of(IntegerCodes(), []) == []


PIECES = st.sampled_from([b"", b"\0", b"a", b"\xff" * 7, b"1234567", b"12345678", b"x" * 28])
TEXTS = st.lists(PIECES, max_size=5).map(b"".join)


@given(st.lists(st.lists(TEXTS, max_size=12), max_size=6))
def test_texts_have_one_word_exactly_if_they_are_one_text(batches: list[list[bytes]]) -> None:
    words, known = TextWords(), dict[bytes, int]()
    for texts in batches:
        found = words.words_of(pa.array(texts, pa.binary())).tolist()
        for text, word in zip(texts, found, strict=True):
            assert known.setdefault(text, word) == word
    assert len(set(known.values())) == len(known)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.large_binary()], ids=str)
def test_a_slice_has_the_words_of_its_texts(type_: pa.DataType) -> None:
    array = pa.array(
        ["first", "second one", "", "a text that is long: thirty bytes", "last"], type_
    )
    words = TextWords()
    whole = words.words_of(array).tolist()
    for start in range(6):
        for length in range(6):
            part = array.slice(start, length)
            assert words.words_of(part).tolist() == whole[start : start + length]


def test_no_texts_have_no_words() -> None:
    assert TextWords().words_of(pa.array([], pa.string())).size == 0
    assert TextWords().words_of(pa.nulls(3, pa.string())).size == 3
