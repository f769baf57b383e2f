"""Offsets: what a checkpoint holds."""

from __future__ import annotations

import json

import pytest

from upstream.spark.source.errors import OffsetError
from upstream.spark.source.offsets import Offset

OFFSET = Offset("q", 3, answers=2, limit=100, leases={"a-1": 200})


def test_an_offset_comes_back_from_a_checkpoint_as_the_same_text() -> None:
    text = json.dumps(OFFSET.as_dict())
    again = Offset.of(json.loads(text))
    assert again == OFFSET
    assert json.dumps(again.as_dict()) == text


def test_keys_tell_queries_batches_sizes_and_answers_apart() -> None:
    offsets = [OFFSET, Offset("r", 3, 2, 100), Offset("q", 4, 2, 100), Offset("q", 3, 2, 10)]
    keys = {offset.retry_key(answer) for offset in offsets for answer in range(2)}
    assert len(keys) == 8


@pytest.mark.parametrize(
    "stored",
    [{"index": 4}, {**OFFSET.as_dict(), "format": 2}, {**OFFSET.as_dict(), "leases": ["a-1"]}, 7],
)
def test_an_offset_of_something_else_is_refused(stored: object) -> None:
    with pytest.raises(OffsetError, match="another checkpointLocation"):
        Offset.of(stored)
