"""Bodies of NDJSON: an update a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import reasons
from api.bodies.errors import TooManyRowsError
from api.bodies.limits import Limits
from api.bodies.ndjson_bodies import NdjsonBodies
from upstream import Key

from .examples import NOW, documents, encode_json, keys, nested, times

LIMITS = Limits()
BODIES = NdjsonBodies(LIMITS, lambda: NOW)

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
    batch = BODIES.read(body)
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
    batch = BODIES.read(b"\n\n".join([good, bad, good]))
    assert (len(batch.keys), batch.rows, batch.indices) == (2, 3, [0, 2])
    assert [(rejection.index, rejection.reason) for rejection in batch.rejections] == [(1, reason)]


def test_an_update_over_several_lines_is_several_bad_ones() -> None:
    assert len(BODIES.read(b'{"key":"a",\n"value":1}').rejections) == 2


def test_too_many_lines_are_an_error() -> None:
    bodies = NdjsonBodies(Limits(rows=3), lambda: NOW)
    assert bodies.read(b"\n".join([OBJECT] * 3) + b"\n").rows == 3
    with pytest.raises(TooManyRowsError):
        bodies.read(b"\n".join([OBJECT] * 4))


@given(st.lists(st.tuples(keys, times, documents)))
def test_what_was_written_is_read(updates: list[tuple[Key, float, object]]) -> None:
    batch = BODIES.read(b"".join(encode_json(update) + b"\n" for update in updates))
    assert not batch.rejections
    assert batch.keys == [key for key, _, _ in updates]
    assert batch.values == [encode_json(value) for _, _, value in updates]
