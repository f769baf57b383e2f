"""The structure of text agrees with what decoding it gives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import json_text
from api.bodies.json_text import Elements, depth_of, without_surrogates

from .examples import documents, encode_json, nested


@pytest.fixture(autouse=True, params=[3, 1 << 16])
def block_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at texts in one block, and in many."""
    monkeypatch.setattr(json_text, "BLOCK_BYTES", request.param)


def plain_depth(value: object) -> int:
    if isinstance(value, list):
        return 1 + max(map(plain_depth, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(plain_depth, value.values()), default=0)
    return 0


tricky = st.recursive(
    st.text('[]{}",\\u', max_size=6),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('[]{}",\\'), inner),
)


@given(documents | tricky)
def test_the_depth_is_that_of_the_decoded_value(value: object) -> None:
    assert depth_of(encode_json(value)) == plain_depth(value)


def test_text_that_no_decoder_can_read_has_a_depth() -> None:
    assert depth_of(nested(5_000)) == 5_000
    assert depth_of(b"") == 0


@given(st.lists(documents | tricky, min_size=1, max_size=5), st.sampled_from(["", " ", "\n "]))
def test_the_elements_are_those_of_the_decoded_array(values: list[object], space: str) -> None:
    text = space + json.dumps(values, separators=("," + space, ":")) + space
    elements = Elements(text.encode())
    assert len(elements) == len(values)
    assert [json.loads(element) for element in elements.texts()] == values


def test_an_empty_array_has_one_empty_element() -> None:
    assert list(Elements(b" [ ] ").texts()) == [b" "]


def test_elements_of_any_depth_are_separated() -> None:
    deep = nested(5_000)
    assert list(Elements(b"[%b,1,%b]" % (deep, deep)).texts()) == [deep, b"1", deep]


@pytest.mark.parametrize(
    "text", [b"", b"1", b"[", b"]", b"][", b"[[]", b"[]]", b'["]', b"[]1", b"1[]", b"[][", b"{}"]
)
def test_brackets_that_do_not_match_are_an_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        Elements(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rb'"\ud800"', b'"______"'),
        (rb'"\uDFff\ud83d\ude00"', b'"__________________"'),
        (rb'"\\ud800"', b'"__ud800"'),
        (rb'"\\\ud800"', b'"________"'),
        (rb'"\u0041\n"', rb'"\u0041\n"'),
    ],
)
def test_surrogates_are_replaced_at_the_same_length(text: bytes, expected: bytes) -> None:
    assert without_surrogates(text) == expected
    assert len(expected) == len(text)
    json.loads(expected)


@pytest.mark.parametrize("text", [rb"[\ud800]", rb"[1\\]", rb"[\\]"])
def test_outside_of_strings_surrogates_do_not_become_good(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"Expecting"):
        json.loads(without_surrogates(text))
