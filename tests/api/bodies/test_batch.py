"""A batch is columns beside what was rejected."""

from __future__ import annotations

import msgspec
import pytest

from api.bodies.batch import Batch, Rejection
from upstream import Stream


def test_the_columns_are_what_a_stream_takes() -> None:
    stream = Stream()
    batch = Batch(keys=["a", "b"], values=[b"1", b"2"], times=[1.0, 2.0], rows=2)
    assert stream.enqueue_many(*batch.columns()).rejected == 0
    assert [tuple(update) for update in stream.snapshot()] == [("a", b"1", 1.0), ("b", b"2", 2.0)]


def test_a_rejection_is_an_object_in_answers() -> None:
    assert msgspec.json.encode(Rejection(3, "why")) == b'{"index":3,"reason":"why"}'


def test_a_batch_is_a_value() -> None:
    batch = Batch(keys=[], values=[], times=None, rows=0)
    assert batch == Batch(keys=[], values=[], times=None, rows=0, rejections=(), indices=None)
    with pytest.raises(AttributeError):
        batch.rows = 1  # type: ignore[misc]
