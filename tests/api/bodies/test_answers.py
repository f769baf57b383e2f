"""Updates in every content type of answers."""

from __future__ import annotations

import io
from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies.answers import json_fragment, write_update, write_updates
from api.bodies.errors import NotAcceptableError
from api.bodies.stored import PackedValue
from upstream import TOMBSTONE, Update

from .examples import (
    ARROW,
    JSON,
    MESSAGEPACK,
    NDJSON,
    documents,
    encode_json,
    encode_messagepack,
    keys,
    times,
)

UPDATES = [
    Update("a", b"1.10", 1.0),
    Update(("b", 2), PackedValue(b"\x92\x01\xc3"), 2.0),
    Update(3, {"bid": None}, 3.5),
    Update("d", TOMBSTONE, 4.0),
]
AS_OBJECTS = [
    {"key": "a", "time": 1.0, "value": 1.1},
    {"key": ["b", 2], "time": 2.0, "value": [1, True]},
    {"key": 3, "time": 3.5, "value": {"bid": None}},
    {"key": "d", "time": 4.0, "value": None, "deleted": True},
]
LEASES = ["w", "x", "y", "z"]
LEASED = [{**update, "lease": lease} for update, lease in zip(AS_OBJECTS, LEASES, strict=True)]

stored_updates = st.builds(
    lambda key, value, time, store: Update(key, store(value), time),
    keys,
    documents,
    times,
    st.sampled_from(
        [encode_json, lambda value: PackedValue(encode_messagepack(value)), lambda value: value]
    ),
)


def test_json_keeps_the_spelling_and_the_order_of_members() -> None:
    content_type, body = write_updates(UPDATES[:1], None)
    assert content_type == JSON
    assert body == b'{"updates":[{"key":"a","time":1.0,"value":1.10}]}'
    _, body = write_updates(UPDATES[3:], JSON, leases=["x"])
    assert body == (b'{"updates":[{"key":"d","time":4.0,"value":null,"lease":"x","deleted":true}]}')


@pytest.mark.parametrize(("leases", "expected"), [(None, AS_OBJECTS), (LEASES, LEASED)])
def test_json_messagepack_and_ndjson_say_the_same(
    leases: Sequence[str] | None, expected: list[object]
) -> None:
    _, body = write_updates(UPDATES, JSON, leases=leases)
    assert msgspec.json.decode(body) == {"updates": expected}
    content_type, body = write_updates(UPDATES, "application/x-msgpack", leases=leases)
    assert content_type == "application/x-msgpack"
    assert msgspec.msgpack.decode(body) == {"updates": expected}
    content_type, body = write_updates(UPDATES, NDJSON, leases=leases)
    assert content_type == NDJSON
    assert [msgspec.json.decode(line) for line in io.BytesIO(body)] == expected


def test_arrow_says_the_same() -> None:
    content_type, body = write_updates(UPDATES, ARROW, leases=LEASES)
    assert content_type == ARROW
    rows = pa.ipc.open_stream(body).read_all().to_pylist()
    assert [row["lease"] for row in rows] == LEASES
    assert [row["time"] for row in rows] == [1.0, 2.0, 3.5, 4.0]


def test_without_updates_there_is_an_answer() -> None:
    assert write_updates([], None)[1] == b'{"updates":[]}'
    assert write_updates([], NDJSON)[1] == b""
    assert msgspec.msgpack.decode(write_updates([], MESSAGEPACK)[1]) == {"updates": []}
    assert pa.ipc.open_stream(write_updates([], ARROW)[1]).read_all().num_rows == 0


def test_a_content_type_that_is_not_accepted_is_an_error() -> None:
    with pytest.raises(NotAcceptableError):
        write_updates(UPDATES, "text/html")
    with pytest.raises(NotAcceptableError):
        write_update(UPDATES[0], "text/html")


@pytest.mark.parametrize(("update", "expected"), list(zip(UPDATES, AS_OBJECTS, strict=True)))
def test_a_single_update_is_an_object_in_every_content_type(
    update: Update, expected: object
) -> None:
    assert write_update(update, None) == (JSON, json_fragment(update))
    content_type, body = write_update(update, "application/x-msgpack")
    assert content_type == "application/x-msgpack"
    assert msgspec.msgpack.decode(body) == expected
    assert write_update(update, NDJSON) == (NDJSON, json_fragment(update) + b"\n")
    assert write_update(update, ARROW) == write_updates([update], ARROW)


@pytest.mark.parametrize(("update", "expected"), list(zip(UPDATES, AS_OBJECTS, strict=True)))
def test_a_fragment_is_one_update(update: Update, expected: object) -> None:
    assert msgspec.json.decode(json_fragment(update)) == expected


@given(stored_updates)
def test_a_fragment_is_one_line(update: Update) -> None:
    fragment = json_fragment(update)
    assert not {b"\n", b"\r"} & {fragment[place : place + 1] for place in range(len(fragment))}


@given(st.lists(stored_updates))
def test_every_update_can_be_written_in_every_content_type(updates: list[Update]) -> None:
    of_json = msgspec.json.decode(write_updates(updates, JSON)[1])
    assert msgspec.msgpack.decode(write_updates(updates, MESSAGEPACK)[1]) == of_json
    lines = io.BytesIO(write_updates(updates, NDJSON)[1])
    assert [msgspec.json.decode(line) for line in lines] == of_json["updates"]
    table = pa.ipc.open_stream(write_updates(updates, ARROW)[1]).read_all()
    table.validate(full=True)
    assert table.column("time").to_pylist() == [update.time for update in updates]
