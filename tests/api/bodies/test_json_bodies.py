"""Bodies of JSON: their shapes, faults of a row, and faults of the whole body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import reasons
from api.bodies.batch import Batch
from api.bodies.errors import MalformedBodyError, TooManyRowsError
from api.bodies.json_bodies import JsonBodies
from api.bodies.reasons import Limits
from upstream import Key

from .examples import NOW, documents, encode_json, json_like, keys, nested, times

LIMITS = Limits()
BODIES = JsonBodies(LIMITS, lambda: NOW)


def read(body: bytes) -> Batch:
    return BODIES.read(body)


def rejections(body: bytes) -> dict[int, str]:
    return {rejection.index: rejection.reason for rejection in read(body).rejections}


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        (b'{"key":"a","value":1}', (["a"], [b"1"], None)),
        (b' \r\n\t{"key":"a","value":1} ', (["a"], [b"1"], None)),
        (b'{"time":3,"value":1.10,"key":"a"}', (["a"], [b"1.10"], [3.0])),
        (b'{"key":"a","value":1,"time":null}', (["a"], [b"1"], None)),
        (b"[]", ([], [], [])),
        (b" [ ] ", ([], [], [])),
        (b'[{"key":"a","value":1}]', (["a"], [b"1"], None)),
        (b'[ {"key":"a","value": [ 1 ] ,"time":2}]', (["a"], [b"[ 1 ]"], [2.0])),
        (b'[\n["a",1,2],["b",null,3]]', (["a", "b"], [b"2", b"3"], [1.0, NOW])),
        (b'[["a",null,2]]', (["a"], [b"2"], None)),
        (b'[["a",1,2],{"key":3,"value":4}]', (["a", 3], [b"2", b"4"], [1.0, NOW])),
        (b'[{"key":3,"value":4},["a",1,2]]', ([3, "a"], [b"4", b"2"], [NOW, 1.0])),
    ],
)
def test_a_body_is_an_update_or_an_array_of_objects_and_rows(
    body: bytes, columns: tuple[object, ...]
) -> None:
    batch = read(body)
    assert batch.columns() == columns
    assert batch.rows == len(batch.keys)
    assert not batch.rejections
    assert batch.indices is None


def test_a_single_update_differs_from_an_array_with_one() -> None:
    assert read(b'{"key":"a","value":1}').is_single
    assert read(b'{"key":"a"}').is_single
    assert not read(b'[{"key":"a","value":1}]').is_single


def test_a_row_alone_is_an_array_of_bad_updates() -> None:
    assert rejections(b'["k",1,2]') == dict.fromkeys(range(3), reasons.NOT_AN_UPDATE)


BAD_UPDATES = [
    (b"null", reasons.NOT_AN_UPDATE),
    (b'"a"', reasons.NOT_AN_UPDATE),
    (b"3", reasons.NOT_AN_UPDATE),
    (b"{}", reasons.MISSING_MEMBER),
    (b'{"value":1}', reasons.MISSING_MEMBER),
    (b'{"key":"a"}', reasons.MISSING_MEMBER),
    (
        b'{"key":"a","value":1,"extra":1}',
        "unknown member 'extra'; known are key, value and time",
    ),
    (
        b'{"key":"a","value":1,"` - at `$.key`":2}',
        "unknown member; known are key, value and time",
    ),
    *((row, reasons.ROW_LENGTH) for row in (b"[]", b'["a",1]', b'["a",1,2,3]')),
    *(
        (b'{"key":%b,"value":1}' % key, reasons.bad_key(LIMITS))
        for key in (
            b"null",
            b"1.5",
            b"1.0",
            b"true",
            b"{}",
            b"[]",
            b"[[1]]",
            b"9223372036854775808",
        )
    ),
    (b'{"key":["%b"],"value":1}' % (b"x" * 1025), reasons.bad_key(LIMITS)),
    (b'[null,1,"v"]', reasons.bad_key(LIMITS)),
    (b'["%b",1,"v"]' % (b"x" * 1025), reasons.bad_key(LIMITS)),
    (b'["a\\u0000",1,"v"]', f"key: {reasons.NUL}"),
    (b'{"key":["a","\\u0000"],"value":1}', f"key: {reasons.NUL}"),
    (b'["\xff",1,"v"]', reasons.NOT_UTF8),
    (b'["\\udc00",1,"v"]', reasons.SYNTAX),
    (b'["a","b","v"]', reasons.TIME),
    *((b'{"key":"a","value":1,"time":%b}' % time, reasons.TIME) for time in (b'"3"', b"true")),
    (b'["a",1e999,"v"]', reasons.TIME),
    (b'["a",%b,"v"]' % (b"9" * 400), reasons.TIME),
    (b'["a",1,1e999]', reasons.NUMBER_RANGE),
    (b'{"key":"a","value":1e999}', reasons.NUMBER_RANGE),
    (b'["a",1,"\\u0000"]', f"value: {reasons.NUL}"),
    (b'["a",1,"\xff"]', reasons.NOT_UTF8),
    (b'["a",1,"\\ud800"]', reasons.SYNTAX),
    (b'["a",1,{"\\ud800\\u0041":1}]', reasons.SYNTAX),
    (b'["a",1,%b]' % nested(65), reasons.too_deep(LIMITS)),
    (b'["a",1,%b]' % nested(100_000), reasons.too_deep(LIMITS)),
    (b'{"key":%b,"value":1}' % nested(100_000), reasons.bad_key(LIMITS)),
    (b'["a",1,"%b"]' % (b"x" * (1 << 20)), reasons.too_long(LIMITS)),
]


@pytest.mark.parametrize(
    ("bad", "reason"), BAD_UPDATES, ids=[repr(text[:30]) for text, _ in BAD_UPDATES]
)
@pytest.mark.parametrize("good", [b'["a",1,2]', b'{"key":"a","time":1,"value":2}'])
def test_a_bad_update_is_rejected_and_the_others_are_kept(
    bad: bytes, reason: str, good: bytes
) -> None:
    batch = read(b"[%b,%b,%b]" % (good, bad, good))
    assert batch.columns() == (["a", "a"], [b"2", b"2"], [1.0, 1.0])
    assert (batch.rows, batch.indices) == (3, [0, 2])
    assert [(rejection.index, rejection.reason) for rejection in batch.rejections] == [(1, reason)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [(bad, reason) for bad, reason in BAD_UPDATES if bad.startswith(b"{")],
    ids=lambda case: case[:30],
)
def test_one_bad_update_is_rejected(bad: bytes, reason: str) -> None:
    assert rejections(bad) == {0: reason}


def test_one_update_with_half_a_surrogate_pair_is_rejected() -> None:
    assert rejections(b'{"key":"a","value":"\\ud800"}') == {0: reasons.SYNTAX}


@pytest.mark.parametrize(
    ("body", "position"),
    [
        (b"", 0),
        (b" ", 0),
        (b"null", 0),
        (b'"text"', 0),
        (b"\xef\xbb\xbf[]", 0),
        (b"\x0b[]", 0),
        (b"[", 1),
        (b"[1,]", 3),
        (b"[1 2]", 3),
        (b'[{"key":"a","value":tru}]', 21),
        (b'[{"key":"a","value":1}', 22),
        (b'{"key":"a","value":1}{', 21),
        (b'{"key":"a","value":1', 20),
        (b'{"key":"a","value":NaN}', 19),
        (b'[["a",1,01]]', 9),
        (b'["\\ud800",]', 10),
        (b'["\\ud800"', 9),
        (b'["a\nb"]', 3),
        (b'["a\0b"]', 3),
    ],
)
def test_a_body_that_is_not_json_is_malformed(body: bytes, position: int) -> None:
    with pytest.raises(MalformedBodyError) as raised:
        read(body)
    assert raised.value.position in (position, len(body))


@pytest.mark.parametrize("body", [b"[" * 100_000, b"[" * 100_000 + b"]" * 99_999, b"[" + b'"' * 9])
def test_brackets_that_do_not_match_are_malformed(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read(body)


@pytest.mark.parametrize("element", [b"0", b'["a",1,2]', b'{"key":"a","value":1}', b'","', b"[,]"])
def test_too_many_rows_are_an_error(element: bytes) -> None:
    bodies = JsonBodies(Limits(rows=3), lambda: NOW)
    with pytest.raises(TooManyRowsError):
        bodies.read(b"[" + b",".join([element] * 4) + b"]")


@pytest.mark.parametrize("element", [b"0", b'"a,b,c,d"', b'["a",1,[1,2,3,4,5]]'])
def test_rows_are_counted_and_not_commas(element: bytes) -> None:
    bodies = JsonBodies(Limits(rows=3), lambda: NOW)
    assert bodies.read(b"[" + b",".join([element] * 3) + b"]").rows == 3


@given(st.lists(st.tuples(keys, times, documents)))
def test_updates_are_read_as_they_were_written(updates: list[tuple[Key, float, object]]) -> None:
    lines = b"".join(encode_json(update) + b"\n" for update in updates)
    for batch in (read(encode_json(updates)), BODIES.read_lines(lines)):
        assert not batch.rejections
        assert batch.keys == [key for key, _, _ in updates]
        assert batch.times == [time for _, time, _ in updates]
        assert batch.values == [encode_json(value) for _, _, value in updates]


@given(st.lists(st.sampled_from([b'["a",1,2]', b'{"key":"b","value":3}', b"4"]) | json_like))
def test_rows_that_are_json_are_kept_or_rejected_at_their_places(elements: list[bytes]) -> None:
    try:
        batch = read(b"[" + b",".join(elements) + b"]")
    except MalformedBodyError:
        return
    rejected = {rejection.index for rejection in batch.rejections}
    kept = list(range(batch.rows)) if batch.indices is None else list(batch.indices)
    assert sorted([*rejected, *kept]) == list(range(batch.rows))
    assert len(batch.keys) == len(batch.values) == len(kept)


# The same as NDJSON, an update per line

OBJECT = b'{"key":"a","value":1}'
ROW = b'["b",2,3]'


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        (b"", ([], [], [])),
        (b"\n", ([], [], [])),
        (OBJECT, (["a"], [b"1"], None)),
        (OBJECT + b"\n", (["a"], [b"1"], None)),
        (OBJECT + b"\r\n" + OBJECT + b"\r\n", (["a", "a"], [b"1", b"1"], None)),
        (ROW + b"\n" + ROW, (["b", "b"], [b"3", b"3"], [2.0, 2.0])),
        (b"\n \n" + OBJECT + b"\n\r\n" + ROW + b"\n\n", (["a", "b"], [b"1", b"3"], [NOW, 2.0])),
        (b"  " + OBJECT + b"\t\n", (["a"], [b"1"], None)),
    ],
)
def test_each_line_that_is_not_blank_is_an_update(body: bytes, columns: tuple[object, ...]) -> None:
    batch = BODIES.read_lines(body)
    assert batch.columns() == columns
    assert batch.rows == len(batch.keys)
    assert not batch.is_single


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"text", reasons.NOT_AN_UPDATE),
        (b'{"key":"a","value":', reasons.SYNTAX),
        (b'{"key":"a","value":nul}', reasons.SYNTAX),
        (OBJECT + OBJECT, reasons.SYNTAX),
        (OBJECT + b" " + ROW, reasons.SYNTAX),
        (b"[" + ROW + b"]", reasons.ROW_LENGTH),
        (b'["a",1,"\\ud800"]', reasons.SYNTAX),
        (b'["a",1,"\\u0000"]', f"value: {reasons.NUL}"),
        (b'["a\\u0000",1,1]', f"key: {reasons.NUL}"),
        (b'["a",1,1e999]', reasons.NUMBER_RANGE),
        (b'["a",1,%b]' % nested(100_000), reasons.too_deep(LIMITS)),
    ],
    ids=lambda case: case[:30],
)
@pytest.mark.parametrize("good", [OBJECT, ROW])
def test_a_bad_line_is_rejected_by_its_place_among_those_not_blank(
    bad: bytes, reason: str, good: bytes
) -> None:
    batch = BODIES.read_lines(b"\n\n".join([good, bad, good]))
    assert (len(batch.keys), batch.rows, batch.indices) == (2, 3, [0, 2])
    assert [(rejection.index, rejection.reason) for rejection in batch.rejections] == [(1, reason)]


def test_an_update_over_several_lines_is_several_bad_ones() -> None:
    assert len(BODIES.read_lines(b'{"key":"a",\n"value":1}').rejections) == 2


def test_too_many_lines_are_an_error() -> None:
    bodies = JsonBodies(Limits(rows=3), lambda: NOW)
    assert bodies.read_lines(b"\n".join([OBJECT] * 3) + b"\n").rows == 3
    with pytest.raises(TooManyRowsError):
        bodies.read_lines(b"\n".join([OBJECT] * 4))
