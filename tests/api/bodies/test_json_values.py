"""JSON values are stored as the text that came, if every format can represent them."""

from __future__ import annotations

import gc
import sys

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from api.bodies import reasons
from api.bodies.errors import RefusedRowError
from api.bodies.json_values import JsonValues, is_plain
from api.bodies.reasons import Limits

from .examples import documents, encode_json, json_like, nested

LIMITS = Limits(value_bytes=200, depth=3)
VALUES = JsonValues(LIMITS)

BAD = {
    b"1e999": reasons.NUMBER_RANGE,
    b"-1E+400": reasons.NUMBER_RANGE,
    b"[1,18446744073709551616]": reasons.NUMBER_RANGE,
    b"-9223372036854775809": reasons.NUMBER_RANGE,
    b"1" * 150: reasons.NUMBER_RANGE,
    b'"\xff"': reasons.NOT_UTF8,
    b'{"\xc3":1}': reasons.NOT_UTF8,
    b'"\xed\xa0\x80"': reasons.NOT_UTF8,
    b'"a\\u0000"': f"value: {reasons.NUL}",
    b'{"\\u0000":1}': f"value: {reasons.NUL}",
    b'["\\\\\\u0000"]': f"value: {reasons.NUL}",
    b"[[[[]]]]": reasons.too_deep(LIMITS),
    b'{"a":[{"b":[]}]}': reasons.too_deep(LIMITS),
    nested(90): reasons.too_deep(LIMITS),
    b'"' + b"x" * 199 + b'"': reasons.too_long(LIMITS),
}
GOOD = [
    *(b"1.10", b"-0", b"1E5", b"1e-400", b"0.30000000000000004", b"18446744073709551615"),
    *(b"-9223372036854775808", b"null", b"true", b'"e"', b'"1e999"', b"[[[]]]", b"[]"),
    *('"é"'.encode(), b'"\\ud83d\\ude00"', b'{"a":1,"a":2}', b'{ "a" : [ ] }'),
    *(b'"[[[[{{{{"', b'"' + b"[" * 190 + b'"', b'"' + b"x" * 198 + b'"'),
]


def raw(text: bytes) -> msgspec.Raw:
    """Return a value as decoders of bodies leave it."""
    return msgspec.json.decode(b'{"a": %b }' % text, type=dict[str, msgspec.Raw])["a"]


@pytest.mark.parametrize("text", GOOD)
def test_a_good_value_stays_as_it_is_spelt(text: bytes) -> None:
    assert VALUES.read(raw(text)) == text
    assert VALUES.read_all([raw(text), raw(b"1")]) == [text, b"1"]


@pytest.mark.parametrize("text", BAD)
def test_a_bad_value_is_refused_with_a_reason(text: bytes) -> None:
    with pytest.raises(RefusedRowError) as raised:
        VALUES.read(raw(text))
    assert raised.value.reason == BAD[text]
    assert VALUES.read_all([raw(b"1"), raw(text)]) is None


def test_a_value_that_seems_to_contain_nul_is_read_alone() -> None:
    text = b'"\\\\u0000"'
    assert VALUES.read(raw(text)) == text
    assert VALUES.read_all([raw(text)]) is None


@pytest.mark.parametrize("text", [b"[1,\n2]", b'{\r\n\t"a":1}', b"[\r]"])
def test_line_breaks_become_spaces(text: bytes) -> None:
    line = text.replace(b"\r", b" ").replace(b"\n", b" ")
    assert VALUES.read(raw(text)) == line
    assert VALUES.read_all([raw(text), raw(b"1")]) == [line, b"1"]


def test_many_values_may_be_longer_together_than_one_alone() -> None:
    texts = [b'"' + b"x" * 190 + b'"'] * 50
    assert VALUES.read_all([raw(text) for text in texts]) == texts


def test_many_values_may_have_more_brackets_together_than_one_alone() -> None:
    texts = [b"[[%b]]" % (b"1," * 10 + b"1")] * 50
    assert VALUES.read_all([raw(text) for text in texts]) == texts


def test_of_no_values_there_are_no_texts() -> None:
    assert VALUES.read_all([]) == []


def test_a_text_does_not_keep_its_body_alive() -> None:
    body = b'{"a":1.5, "b":"%b"}' % (b"x" * 1000)
    values = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    held = sys.getrefcount(body)
    texts = [VALUES.read(values["a"]), *(VALUES.read_all([values["a"]]) or [])]
    del values
    gc.collect()
    assert texts == [b"1.5", b"1.5"]
    assert sys.getrefcount(body) < held


@given(st.lists(documents))
def test_values_read_together_are_the_same_as_one_by_one(values: list[object]) -> None:
    raws = [raw(encode_json(value)) for value in values]
    reader = JsonValues(Limits())
    assert reader.read_all(raws) == [reader.read(value) for value in raws]


@given(json_like)
@example(b'{"d":[0.10,"x"],"e":null}')
@example(b'"\x7f"')
def test_plain_text_of_correct_syntax_can_be_decoded_and_packed(text: bytes) -> None:
    try:
        value = raw(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return  # the decoder of the body has found the fault
    if is_plain(bytes(value)):
        msgspec.msgpack.encode(msgspec.json.decode(bytes(value)))


@pytest.mark.parametrize("text", [b"123.45", b"1\n2", b'{"price":1,"e":[2]}', b"9" * 18, b'"eE"'])
def test_common_values_are_plain(text: bytes) -> None:
    assert is_plain(text)


@pytest.mark.parametrize("text", [b"1e5", b"1E5", b"9" * 19, b'"\\n"', b'"\xc3\xa9"', b'"1e"'])
def test_text_that_may_be_bad_is_not_plain(text: bytes) -> None:
    assert not is_plain(text)
