"""Texts as words of 64 bits."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.rows.text_words import TextWords

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
