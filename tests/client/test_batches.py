"""Updates cut into bodies."""

from __future__ import annotations

from collections import deque

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ParameterError, ValueNotEncodableError
from upstream.client.batches import BODY_BYTES, bodies, check_batch_size, in_batches, next_body
from upstream.client.encoding import Row


def test_a_body_has_so_many_rows() -> None:
    rows: list[Row] = [("k", None, number) for number in range(5)]
    found = list(bodies(rows, 2))
    assert [count for count, _ in found] == [2, 2, 1]
    assert found[2][1] == b'[["k",null,4]]'


def test_a_body_is_no_longer_than_the_service_takes() -> None:
    rows: list[Row] = [(f"k{number}", None, "x" * 50_000) for number in range(1_000)]
    found = list(bodies(rows, 1_000))
    assert len(found) == 7
    assert all(len(body) <= BODY_BYTES for _, body in found)
    decoded = [row[0] for _, body in found for row in msgspec.json.decode(body)]
    assert decoded == [row[0] for row in rows]


def test_an_update_that_is_too_long_goes_alone() -> None:
    rows: list[Row] = [("a", None, 1), ("b", None, "x" * (BODY_BYTES + 1)), ("c", None, 2)]
    assert [count for count, _ in bodies(rows, 10)] == [1, 1, 1]


def test_no_row_of_a_batch_goes_before_all_are_known_to_be_good() -> None:
    rows: list[Row] = [("a", None, 1), ("b", None, 2), ("c", None, float("nan"))]
    following = bodies(rows, 2)
    assert next(following)[0] == 2
    with pytest.raises(ValueNotEncodableError):
        next(following)


@given(st.lists(st.binary(min_size=1, max_size=3)), st.integers(1, 10))
def test_encoded_rows_keep_their_order(rows: list[bytes], size: int) -> None:
    remaining, taken = deque(rows), []
    while remaining:
        count, body = next_body(remaining, size)
        assert 1 <= count <= size
        taken.append(body[1:-1])
    assert b",".join(taken) == b",".join(rows)


@given(st.lists(st.integers()), st.integers(1, 10))
def test_batches_hold_all_items_in_their_order(items: list[int], size: int) -> None:
    batches = list(in_batches(items, size))
    assert [item for batch in batches for item in batch] == items
    assert all(len(batch) == size for batch in batches[:-1])
    assert all(batches)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "10", None])
def test_a_batch_size_is_a_whole_number(size: object) -> None:
    with pytest.raises(ParameterError, match="batch_size"):
        check_batch_size(size)
