"""A batch is columns beside what was rejected."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from api.bodies.batch import Batch, Rejection, filled


def test_removed_rows_are_rejected_by_their_place_in_the_body() -> None:
    bad = [Rejection(1, "bad")]
    batch = Batch(
        keys=["a", "c", "d"],
        values=[1, 3, 4],
        times=[1.0, 3.0, 4.0],
        rows=4,
        rejections=bad,
        indices=[0, 2, 3],
    )
    without = batch.without([1], "long")
    assert (without.keys, without.values, without.times) == (["a", "d"], [1, 4], [1.0, 4.0])
    assert without.rejections == [*bad, Rejection(2, "long")]
    assert (without.rows, without.indices) == (4, [0, 3])


def test_many_rows_are_removed_in_linear_time() -> None:
    keys = list(range(200_000))
    batch = Batch(keys=keys, values=keys, times=None, rows=len(keys))
    started = time.perf_counter()
    without = batch.without(keys[1::2], "long")
    assert time.perf_counter() - started < 5  # and not minutes
    assert without.keys == keys[::2]
    assert len(without.rejections) == len(keys) // 2


def test_rows_are_removed_from_columns_of_arrow() -> None:
    keys = pa.array(["a", "b", "a"]).dictionary_encode()
    times = cast(Sequence[float], np.array([1.0, 2.0, 3.0]))
    batch = Batch(keys=keys, values=pa.array([1, 2, 3]), times=times, rows=3)
    without = batch.without([0], "long")
    columns = [cast(pa.Array, column).tolist() for column in without.columns()]
    assert columns == [["b", "a"], [2, 3], [2.0, 3.0]]
    assert without.rejections == [Rejection(0, "long")]
    assert batch.listed_values() == [1, 2, 3]


def now() -> float:
    return 9.0


def test_given_times_stay_as_they_are() -> None:
    times: list[float | None] = [1.0, 2.0]
    assert filled(times, now) == times


def test_missing_times_are_filled() -> None:
    assert filled([1.0, None, 3.0], now) == [1.0, 9.0, 3.0]
    assert filled([None, 0.0], now) == [9.0, 0.0]


def test_if_all_are_missing_there_are_no_times() -> None:
    assert filled([None, None], now) is None
    assert filled([None], now) is None
