"""Any body is read or refused with a reason, and accepted updates can always be read again."""

from __future__ import annotations

import random
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import BodyError, Limits, UpdateReader, write_updates
from api.bodies.batch import Batch
from api.bodies.errors import UnsupportedContentTypeError
from api.bodies.stored import StoredValueCodec
from upstream import OnDemandMemory, PagePool, Stream

from .arrow_streams import body_of
from .examples import (
    ARROW,
    CONTENT_TYPES,
    JSON,
    MESSAGEPACK,
    NDJSON,
    NOW,
    damaged,
    documents,
    encode_json,
    encode_messagepack,
    json_like,
    keys,
    times,
)

READER = UpdateReader(Limits(), now=lambda: NOW)
UPDATES = [
    {"key": "a", "value": {"x": [1, 2.5, 'é\\"', None, True]}, "time": 1.5},
    ["b", None, [1, [2]]],
    {"key": ["a", 1], "value": "s"},
]
BODIES = {
    JSON: encode_json(UPDATES),
    NDJSON: b"\n".join(map(encode_json, UPDATES)),
    MESSAGEPACK: encode_messagepack(UPDATES),
    ARROW: body_of(
        key=["a", "b", "c"], time=[1.0, None, 2.0], x=[1.0, 2.0, None], y=[["a"], [], None]
    ),
}


def streams() -> list[Stream]:
    """Return a stream that keeps values as they are, and one that keeps them in a page pool."""
    pool = PagePool(1 << 20, page_bytes=4096, location_bytes=64)
    return [Stream(), Stream(memory=OnDemandMemory(pool), codec=StoredValueCodec())]


def assert_readable_ever_after(batch: Batch) -> None:
    """Put a batch into streams, and write what is in them in every content type."""
    assert len(batch.keys) == len(batch.values) == batch.rows - len(batch.rejections)
    for stream in streams():
        outcome = stream.enqueue_many(*batch.columns())
        assert outcome.rejected == 0
        for accept in CONTENT_TYPES:
            _, body = write_updates(stream.snapshot(), accept)
            if accept == JSON:
                assert len(msgspec.json.decode(body)["updates"]) == len(stream)
            elif accept == MESSAGEPACK:
                assert len(msgspec.msgpack.decode(body)["updates"]) == len(stream)
            elif accept == NDJSON:
                assert body.count(b"\n") == len(stream)


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a_body_is_read_by_its_content_type(content_type: str) -> None:
    batch = READER.read(content_type, BODIES[content_type])
    assert (batch.rows, len(batch.keys), batch.times is None) == (3, 3, False)
    assert not batch.is_single
    assert_readable_ever_after(batch)


def test_without_a_content_type_it_is_json() -> None:
    assert READER.read(None, BODIES[JSON]) == READER.read(JSON, BODIES[JSON])


def test_another_content_type_is_not_read() -> None:
    with pytest.raises(UnsupportedContentTypeError):
        READER.read("text/plain", b"")


@given(st.lists(st.tuples(keys, times | st.none(), documents)))
def test_accepted_updates_can_be_written_in_every_content_type(
    updates: list[tuple[object, float | None, object]],
) -> None:
    for content_type, body in (
        (JSON, encode_json(updates)),
        (NDJSON, b"\n".join(map(encode_json, updates))),
        (MESSAGEPACK, encode_messagepack(updates)),
    ):
        batch = READER.read(content_type, body)
        assert not batch.rejections
        assert_readable_ever_after(batch)


@given(json_like | st.binary(max_size=50), st.sampled_from(CONTENT_TYPES))
def test_any_body_is_read_or_refused(body: bytes, content_type: str) -> None:
    for data in (body, b"[%b]" % body, b'{"key":"a","value":%b}' % body, b'["a",1,%b]' % body):
        try:
            batch = READER.read(content_type, data)
        except BodyError:
            continue
        assert_readable_ever_after(batch)


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_body_is_read_or_refused(content_type: str, seed: int) -> None:
    rng = random.Random(seed)
    read = refused = 0
    for _ in range(300):
        try:
            batch = READER.read(content_type, damaged(BODIES[content_type], rng))
        except BodyError:
            refused += 1
            continue
        read += len(batch.keys)
        refused += len(batch.rejections)
        assert_readable_ever_after(batch)
    assert read
    assert refused


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_no_beginning_of_a_body_is_more_than_refused(content_type: str) -> None:
    body = BODIES[content_type]
    for length in range(len(body)):
        try:
            batch = READER.read(content_type, body[:length])
        except BodyError:
            continue
        assert batch.rows <= 3


SECRET = "s3cr3t"  # noqa: S105 - not one, but easily told from any message


@pytest.mark.parametrize(
    "body",
    [
        [SECRET],
        [[SECRET, SECRET, SECRET]],
        [{"key": SECRET, SECRET: SECRET}],
        [{"key": SECRET, "value": {SECRET: SECRET * 200_000}}],
        [{"key": SECRET * 1000, "value": SECRET}],
        SECRET,
    ],
    ids=range(6),
)
def test_no_reason_repeats_the_input(body: object) -> None:
    for content_type, data in (
        (JSON, encode_json(body)),
        (NDJSON, encode_json(body)),
        (MESSAGEPACK, encode_messagepack(body)),
        (JSON, encode_json(body)[:-1]),
    ):
        try:
            said = " ".join(
                rejection.reason for rejection in READER.read(content_type, data).rejections
            )
        except BodyError as error:
            said = f"{error} {vars(error)}"
        assert said
        assert SECRET not in said


def test_pyarrow_is_imported_with_the_first_arrow_body_only() -> None:
    program = (
        "import sys, api.bodies as b\n"
        "r = b.UpdateReader(b.Limits(), now=float)\n"
        "r.read(None, b'[]'); b.write_updates([], None)\n"
        "assert 'pyarrow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
