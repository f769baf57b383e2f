"""Updates in JSON: many at once if all are good, or one by one."""

from __future__ import annotations

import msgspec
import pytest

from api.bodies import reasons
from api.bodies.errors import RefusedRowError, TooManyRowsError
from api.bodies.json_updates import JsonUpdates
from api.bodies.reasons import Limits
from api.bodies.wire import REFUSALS, WireRow, WireUpdate, row_type, update_type

from .examples import NOW

LIMITS = Limits(rows=3)
UPDATES = JsonUpdates(LIMITS, lambda: NOW)


def objects(body: bytes) -> list[WireUpdate]:
    kind = update_type(LIMITS)
    return msgspec.json.decode(body, type=list[kind])  # type: ignore[valid-type]


def rows(body: bytes) -> list[WireRow]:
    kind = row_type(LIMITS)
    return msgspec.json.decode(body, type=list[kind])  # type: ignore[valid-type]


def test_an_object_is_one_update() -> None:
    batch = UPDATES.from_object(b'{"time":3,"value":1.10,"key":"a"}')
    assert batch.columns() == (["a"], [b"1.10"], [3.0])
    assert (batch.rows, batch.is_single, batch.rejections) == (1, True, ())


@pytest.mark.parametrize("time", [b"", b',"time":null'])
def test_an_object_without_a_time_has_none(time: bytes) -> None:
    assert UPDATES.from_object(b'{"key":"a","value":1%b}' % time).times is None


@pytest.mark.parametrize(
    "text",
    [b'{"key":"\\u0000","value":1}', b'{"key":"a","value":1e999}', b'{"key":"a"}', b"[", b"3"],
)
def test_a_bad_object_is_an_error(text: bytes) -> None:
    with pytest.raises((*REFUSALS, RefusedRowError)):
        UPDATES.from_object(text)


def test_objects_and_rows_come_to_the_same() -> None:
    of_objects = b'[{"key":"a","value":1.10,"time":1},{"key":["b",2],"value":[]}]'
    of_rows = b'[["a",1,1.10],[["b",2],null,[]]]'
    batch = UPDATES.from_objects(objects(of_objects), of_objects)
    assert batch is not None
    assert batch.columns() == (["a", ("b", 2)], [b"1.10", b"[]"], [1.0, NOW])
    assert batch == UPDATES.from_rows(rows(of_rows), of_rows)


@pytest.mark.parametrize(
    "body", [b'[["a",1,1],["b",2,1e999]]', b'[["a",1,1],["\\u0000",2,1]]', b'[["a",1,"\xff"]]']
)
def test_if_one_may_be_bad_there_is_none(body: bytes) -> None:
    assert UPDATES.from_rows(rows(body), body) is None


def test_too_many_are_an_error() -> None:
    body = b'[["a",1,1],["a",1,1],["a",1,1],["a",1,1]]'
    with pytest.raises(TooManyRowsError) as raised:
        UPDATES.from_rows(rows(body), body)
    assert raised.value.limit == 3


def test_one_by_one_each_may_be_an_object_or_a_row() -> None:
    texts = [b' {"key":"a","value":1}', b'["b",1,2]', b"3", b"", b'"x"', b"nul"]
    batch = UPDATES.one_by_one.read(texts)
    assert batch.columns() == (["a", "b"], [b"1", b"2"], [NOW, 1.0])
    assert [rejection.reason for rejection in batch.rejections] == [reasons.NOT_AN_UPDATE] * 4
