"""Times too far ahead are rejected, except in streams with a time scale of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from api.time_bound import DAY, LONGEST_AGO, MostAhead, TimeBound

NOW = 1_700_000_000.0


def bound_of(most_ahead: MostAhead = "auto") -> TimeBound:
    return TimeBound(most_ahead, now=lambda: NOW)


def settled() -> TimeBound:
    bound = bound_of()
    assert bound.rows_ahead([NOW]) == []
    assert bound.seconds == DAY
    return bound


@pytest.mark.parametrize("make", [list, np.array], ids=["list", "array"])
def test_milliseconds_among_seconds_are_found(make: type) -> None:
    assert settled().rows_ahead(make([NOW, 1e3 * NOW, NOW - 5, NOW + DAY, NOW + DAY + 1])) == [1, 4]


def test_a_batch_that_has_both_is_enough_to_find_them() -> None:
    assert bound_of().rows_ahead([NOW, NOW + 1, 1e3 * NOW]) == [2]


def test_milliseconds_that_came_first_lose_to_as_many_seconds() -> None:
    bound = bound_of()
    assert bound.rows_ahead([1e3 * NOW, 1e3 * NOW]) == []
    assert bound.rows_ahead([NOW]) == []
    assert bound.seconds == math.inf
    assert bound.rows_ahead([NOW]) == []
    assert bound.rows_ahead([1e3 * NOW]) == [0]


@pytest.mark.parametrize(
    "times",
    [[0.0, 1.0, 5e5], [1e3 * NOW], [NOW - 2 * LONGEST_AGO], [-NOW], [1e300, -1e300]],
    ids=["small", "milliseconds", "history", "negative", "extremes"],
)
def test_a_time_scale_of_its_own_has_no_bound(times: list[float]) -> None:
    bound = bound_of()
    for _ in range(10):
        assert bound.rows_ahead(times) == []
    assert bound.limit == math.inf


def test_a_stray_time_near_the_clock_does_not_bound_a_stream_of_milliseconds() -> None:
    bound = bound_of()
    bound.rows_ahead([1e3 * NOW] * 10)
    for times in ([NOW], None):
        assert bound.rows_ahead(times) == []
        assert bound.rows_ahead([1e3 * NOW]) == []


def test_updates_without_times_have_the_clocks() -> None:
    bound = bound_of()
    assert bound.rows_ahead(None) == []
    assert bound.rows_ahead([1e3 * NOW]) == [0]


def test_a_stream_may_have_another_bound_or_none() -> None:
    assert bound_of(2.0).rows_ahead([NOW + 2, NOW + 3]) == [1]
    assert bound_of(0.0).rows_ahead([NOW + 1]) == [0]
    never = bound_of(None)
    assert never.rows_ahead([NOW]) == []
    assert never.rows_ahead([1e300]) == []
    assert bound_of().rows_ahead([]) == []
