"""Missing times are the server's, if others are given."""

from __future__ import annotations

from api.bodies.times import filled


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
