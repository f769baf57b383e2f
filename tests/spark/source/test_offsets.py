"""Offsets, which a checkpoint stores, with their leases as ranges."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.spark.source.errors import OffsetError
from upstream.spark.source.offsets import Offset, from_ranges, to_ranges

OFFSET = Offset("q", 3, answers=2, limit=100, leases={"a-1": 200})


def test_an_offset_from_a_checkpoint_has_the_same_text_again() -> None:
    text = json.dumps(OFFSET.as_dict())
    again = Offset.of(json.loads(text))
    assert again == OFFSET
    assert json.dumps(again.as_dict()) == text


def test_retry_keys_differ_by_query_batch_size_and_answer() -> None:
    offsets = [OFFSET, Offset("r", 3, 2, 100), Offset("q", 4, 2, 100), Offset("q", 3, 2, 10)]
    keys = {offset.retry_key(answer) for offset in offsets for answer in range(2)}
    assert len(keys) == 8


@pytest.mark.parametrize(
    "stored",
    [{"index": 4}, {**OFFSET.as_dict(), "format": 2}, {**OFFSET.as_dict(), "leases": ["a-1"]}, 7],
)
def test_an_offset_of_another_data_source_is_refused(stored: object) -> None:
    with pytest.raises(OffsetError, match="another checkpointLocation"):
        Offset.of(stored)


# Ranges of leases

NUMBERED = st.builds("{}-{}".format, st.sampled_from(["a", "b", "a-1", ""]), st.integers(0, 30))
ANY = st.one_of(NUMBERED, st.sampled_from(["a-07", "a-008", "9", "", "x", "a-", "a-²"]), st.text())


@given(st.lists(ANY, unique=True))
def test_ranges_give_back_any_leases_in_their_order(leases: list[str]) -> None:
    assert list(from_ranges(to_ranges(leases))) == leases


def test_consecutive_leases_take_one_entry() -> None:
    leases = [f"5f1c0a-{number}" for number in range(98, 10_098)]
    assert to_ranges(leases) == {"5f1c0a-98": 10_000}


def test_a_gap_begins_another_range() -> None:
    assert to_ranges(["a-1", "a-2", "a-4", "b-5"]) == {"a-1": 2, "a-4": 1, "b-5": 1}
