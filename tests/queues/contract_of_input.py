"""What every kind of queue refuses; a part of the contract."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
import pytest

from upstream import (
    ColumnLengthError,
    KeyNotHashableError,
    QueueStatistics,
    StreamQueue,
    TimeNotFiniteError,
    Update,
)

from .setting import QueueSetting, as_bad_time

BAD_TIMES: Final[tuple[object, ...]] = (
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    "5",
    b"5",
    [5.0],
    (),
    object(),
    5j,
    np.float64("nan"),
    np.datetime64("NaT", "s"),
    Fraction(1, 2),
    np.array([7.5]),
)
BAD_KEYS: Final[tuple[object, ...]] = (
    ["IBM"],
    {"IBM": 1},
    {1, 2},
    ("IBM", []),
    math.nan,
    np.float64("nan"),
)


class InputContract(QueueSetting):
    """Bad input is an error of its own: nothing has changed, and nothing is lost."""

    @pytest.mark.parametrize("key", BAD_KEYS, ids=repr)
    def test_a_key_must_be_hashable_and_equal_to_itself(
        self, queue: StreamQueue, key: object
    ) -> None:
        queue.enqueue("IBM", 24.0, time=0)
        before = queue.statistics()
        with pytest.raises(KeyNotHashableError) as raised:
            queue.enqueue(key, 1.0, time=1)
        assert raised.value.key is key
        assert raised.value.row is None
        with pytest.raises(KeyNotHashableError, match="row 1: ") as raised:
            queue.enqueue_many(["IBM", key], [25.0, 1.0])
        assert raised.value.row == 1
        assert queue.statistics() == before
        assert queue.snapshot() == [Update("IBM", 24.0, 0.0)]
        queue._check()

    @pytest.mark.parametrize("time", BAD_TIMES, ids=lambda time: repr(time)[:20])
    @pytest.mark.parametrize("key", ["IBM", "MSFT"])
    def test_a_time_must_be_a_finite_number(
        self, queue: StreamQueue, key: str, time: object
    ) -> None:
        queue.enqueue("IBM", 24.0, time=0)
        before = queue.statistics()
        with pytest.raises(TimeNotFiniteError) as raised:
            queue.enqueue(key, 25.0, time=as_bad_time(time))
        assert raised.value.time is time
        with pytest.raises(TimeNotFiniteError, match="row 1: ") as raised:
            queue.enqueue_many(["IBM", key], [25.0, 26.0], [1.0, time])
        assert raised.value.row == 1
        assert queue.statistics() == before
        assert queue.snapshot() == [Update("IBM", 24.0, 0.0)]

    @pytest.mark.parametrize("time", [3, True, np.float32(0.1), np.int64(3), np.float64(0.1)])
    def test_a_time_becomes_a_float(self, queue: StreamQueue, time: float) -> None:
        for _ in range(2):
            queue.enqueue("IBM", 24.0, time=time)
            queue.enqueue_many(["IBM"], [24.0], [time])
            queue.enqueue_many(["IBM"], [24.0], (time,))
        assert queue.statistics().late == 0
        for update in queue.dequeue_many(9):
            assert type(update.time) is float
            assert update.time == float(time)

    @pytest.mark.parametrize("column", [[1.0, math.nan], np.array([1.0, math.inf]), [1.0, None]])
    def test_one_bad_time_in_a_batch_applies_none_of_it(
        self, queue: StreamQueue, column: list[float]
    ) -> None:
        with pytest.raises(TimeNotFiniteError) as raised:
            queue.enqueue_many(["IBM", "MSFT"], [24.0, 50.0], column)
        assert raised.value.row == 1
        assert queue.statistics() == QueueStatistics(*[0] * 15)

    def test_columns_must_be_equally_long(self, queue: StreamQueue) -> None:
        for keys, values, times in ((2, 1, 2), (1, 2, 2), (2, 2, 1), (0, 1, 0)):
            with pytest.raises(ColumnLengthError) as raised:
                queue.enqueue_many(["IBM"] * keys, [24.0] * values, [0.0] * times)
            assert raised.value.lengths == {"keys": keys, "values": values, "times": times}
        assert queue.statistics() == QueueStatistics(*[0] * 15)
