"""Conflating a whole column gives what a loop over its rows gives."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.columns import Codes, conflate, conflation

UNKNOWN = -np.inf


def conflate_by_loop(
    codes: Sequence[int], times: Sequence[float], newest: Sequence[float]
) -> tuple[list[tuple[int, int, int]], int]:
    """Return code, accepted rows and last accepted row of each key; and how many rows are late."""
    known = list(newest)
    accepted: dict[int, list[int]] = {}
    late = 0
    for row, (code, time) in enumerate(zip(codes, times, strict=True)):
        if time < known[code]:
            late += 1
            continue
        known[code] = time
        accepted.setdefault(code, []).append(row)
    return [(code, len(rows), rows[-1]) for code, rows in accepted.items()], late


def conflate_by_vectors(
    codes: Codes | Sequence[int], times: Sequence[float], newest: Sequence[float]
) -> tuple[list[tuple[int, int, int]], int]:
    before = np.array(newest, dtype=np.float64)
    conflated = conflate(np.asarray(codes, dtype=np.int64), np.array(times, dtype=float), before)
    assert before.tolist() == list(newest), "the caller's times were changed"
    keys = zip(
        conflated.codes.tolist(),
        conflated.counts.tolist(),
        conflated.last_rows.tolist(),
        strict=True,
    )
    return list(keys), conflated.late


moments = st.one_of(st.integers(0, 6).map(float), st.floats(-1e300, 1e300))
batches = st.integers(1, 6).flatmap(
    lambda size: st.tuples(
        st.lists(st.tuples(st.integers(0, size - 1), moments), max_size=30),
        st.lists(st.one_of(st.just(UNKNOWN), moments), min_size=size, max_size=size),
    )
)


@given(batches, st.sampled_from([1, 4, 1 << 14]), st.booleans())
def test_vectors_give_what_a_loop_gives(
    batch: tuple[list[tuple[int, float]], list[float]], block_rows: int, is_ordered: bool
) -> None:
    rows, newest = batch
    if is_ordered:
        rows = sorted(rows, key=lambda row: row[1])
    codes = [code for code, _ in rows]
    times = [time for _, time in rows]
    with patch.object(conflation, "BLOCK_ROWS", block_rows):
        assert conflate_by_vectors(codes, times, newest) == conflate_by_loop(codes, times, newest)


@pytest.mark.parametrize("keys", [1, 65_536, 65_537, 90_000])
@pytest.mark.parametrize("disorder", ["none", "a little", "full"])
def test_many_keys_and_many_blocks_give_what_a_loop_gives(keys: int, disorder: str) -> None:
    random = np.random.default_rng(keys)
    rows = 100_000
    codes = random.permutation(np.arange(rows) % keys)
    times = np.arange(rows) // 2 * 1.0
    if disorder == "a little":
        delayed = random.choice(rows, rows // 20, replace=False)
        times[delayed] -= random.integers(1, 5_000, len(delayed))
    elif disorder == "full":
        times = random.permutation(times)
    newest = np.where(random.random(keys) < 0.5, UNKNOWN, random.uniform(-10, rows / 4, keys))
    newest[0] = 5.0
    expected = conflate_by_loop(codes.tolist(), times.tolist(), newest.tolist())
    assert expected[1] > 0
    assert conflate_by_vectors(codes, times.tolist(), newest.tolist()) == expected


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64])
def test_codes_may_be_integers_of_any_kind(dtype: type[np.integer]) -> None:
    codes = np.array([1, 0, 1, 2], dtype=dtype)
    conflated = conflate(codes, np.array([2.0, 1.0, 1.0, 3.0]), np.full(3, UNKNOWN))
    assert conflated.codes.tolist() == [1, 0, 2]
    assert conflated.last_rows.tolist() == [0, 1, 3]
    assert conflated.late == 1


def test_a_row_at_the_time_of_the_newest_is_accepted() -> None:
    assert conflate_by_vectors([0, 0, 0], [5.0, 5.0, 4.0], [5.0]) == ([(0, 2, 1)], 1)


def test_zero_of_either_sign_is_one_time() -> None:
    assert conflate_by_vectors([0, 0, 0], [0.0, -0.0, -1.0], [UNKNOWN]) == ([(0, 2, 1)], 1)


def test_a_key_whose_rows_are_all_late_is_left_out() -> None:
    assert conflate_by_vectors([0, 1, 0], [3.0, 1.0, 2.0], [9.0, UNKNOWN]) == ([(1, 1, 1)], 2)


def test_no_rows_conflate_to_nothing() -> None:
    assert conflate_by_vectors([], [], [1.0, UNKNOWN]) == ([], 0)
    assert conflate_by_vectors([], [], []) == ([], 0)
