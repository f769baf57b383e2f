"""A stream from a stranger becomes a table that can be relied on, or is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from api.bodies.arrow.stream import read_table
from api.bodies.errors import MalformedBodyError, TooManyRowsError, UnsupportedColumnError
from api.bodies.limits import Limits

from ..arrow_streams import body_of, stream_of

LIMITS = Limits(rows=6)
BODY = body_of(key=["a", "b"], value=[1.0, 2.0])
END = 8
"""How many bytes mark the end of a stream."""


def test_the_batches_of_a_stream_become_one() -> None:
    batches = [
        pa.record_batch({"key": pa.array(keys).dictionary_encode(), "value": [1.0, 2.0]})
        for keys in (["a", "b"], ["b", "c"], ["c", "c"])
    ]
    layout, table = read_table(stream_of(*batches), LIMITS)
    assert (layout.key, layout.values) == (0, (1,))
    assert table.column("key").to_pylist() == ["a", "b", "b", "c", "c", "c"]
    assert table.column("key").num_chunks == 1
    assert table.column("key").chunk(0).dictionary.to_pylist() == ["a", "b", "c"]


def test_dictionaries_that_cannot_be_put_together_are_refused_with_a_reason() -> None:
    keys = [
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(names))
        for names in (["a", None], ["b"])
    ]
    body = stream_of(*(pa.record_batch({"key": key, "value": [1.0]}) for key in keys))
    with pytest.raises(UnsupportedColumnError, match="hold a null"):
        read_table(body, LIMITS)


def test_a_stream_without_batches_is_a_table_without_rows() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema({"key": pa.string(), "value": pa.int64()})):
        pass
    assert read_table(bytes(sink.getvalue()), LIMITS)[1].num_rows == 0


def test_a_stream_may_end_without_its_mark() -> None:
    assert read_table(BODY[:-END], LIMITS)[1].num_rows == 2


@pytest.mark.parametrize("rest", [b"x", b"\0" * 8, BODY])
def test_what_follows_the_end_is_not_ignored(rest: bytes) -> None:
    with pytest.raises(MalformedBodyError, match="after the end") as raised:
        read_table(BODY + rest, LIMITS)
    assert raised.value.position == len(BODY)


@pytest.mark.parametrize("body", [b"", b"text", BODY[:40], BODY[:-40], BODY[8:], b"\xff" * 100])
def test_what_is_no_stream_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read_table(body, LIMITS)


def words(*integers: int) -> bytes:
    """Return integers as Arrow has them in offsets."""
    return b"".join(integer.to_bytes(4, "little", signed=True) for integer in integers)


TEXTS = pa.array(["some", "texts"])
CODES = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int32()), TEXTS)
LISTS = pa.array([[1.0, 2.0, 3.0, 4.0], [5.0] * 5])


@pytest.mark.parametrize(
    ("column", "sound", "unsound"),
    [
        (TEXTS, b"sometexts", b"some\xff\xfets"),
        (TEXTS, words(0, 4, 9), words(0, 4, 2**31 - 1)),
        (TEXTS, words(0, 4, 9), words(0, 9, 4)),
        (TEXTS, words(0, 4, 9), words(-4, 4, 9)),
        (CODES, words(1, 0), words(1, 2)),
        (CODES, words(1, 0), words(-1, 0)),
        (LISTS, words(0, 4, 9), words(0, 4, 10)),
        (LISTS, words(0, 4, 9), words(9, 4, 0)),
    ],
    ids=range(8),
)
def test_what_could_crash_the_process_is_malformed(
    column: pa.Array, sound: bytes, unsound: bytes
) -> None:
    body = body_of(key=["a", "b"], value=column)
    assert body.count(sound) == 1
    assert read_table(body, LIMITS)[1].num_rows == 2
    with pytest.raises(MalformedBodyError):
        read_table(body.replace(sound, unsound), LIMITS)


def test_too_many_rows_are_an_error() -> None:
    batch = pa.record_batch({"key": ["a", "b"], "value": [1, 2]})
    assert read_table(stream_of(*[batch] * 3), LIMITS)[1].num_rows == 6
    with pytest.raises(TooManyRowsError):
        read_table(stream_of(*[batch] * 4), LIMITS)


def test_columns_that_cannot_be_read_are_refused_before_they_are() -> None:
    body = body_of(key=["a", "b"], value=[b"some", b"bytes"])
    with pytest.raises(UnsupportedColumnError):
        read_table(body.replace(words(0, 4, 9), words(9, 4, 0)), LIMITS)
