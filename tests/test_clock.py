"""Clocks never go backwards, whatever the clock on the wall does."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.clock import (
    Clock,
    ManualClock,
    SteadyTicks,
    Stopwatch,
    SystemClock,
    again_of,
    steps_back_of,
    ticks_of,
)
from upstream.errors import ParameterError, UpStreamError


class Walls:
    """The two clocks of the machine, as they are told to be."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall = 1_700_000_000.0
        self.monotonic = 50.0
        monkeypatch.setattr(time, "time", lambda: self.wall)
        monkeypatch.setattr(time, "monotonic", lambda: self.monotonic)


@pytest.fixture
def walls(monkeypatch: pytest.MonkeyPatch) -> Walls:
    return Walls(monkeypatch)


def test_the_system_clock_starts_with_the_wall(walls: Walls) -> None:
    assert SystemClock().now() == 1_700_000_000.0


def test_the_system_clock_advances_with_the_monotonic_time(walls: Walls) -> None:
    clock = SystemClock()
    walls.monotonic += 2.5
    assert clock.now() == 1_700_000_002.5


@pytest.mark.parametrize("jump", [3600.0, -3600.0, -1_700_000_000.0])
def test_setting_the_wall_clock_does_not_change_the_time(walls: Walls, jump: float) -> None:
    clock = SystemClock()
    walls.wall += jump
    assert clock.now() == 1_700_000_000.0
    walls.monotonic += 1.0
    assert clock.now() == 1_700_000_001.0


def test_the_system_clock_shows_the_current_time() -> None:
    before = time.time()
    clock = SystemClock()
    assert clock.now() == pytest.approx(before, abs=60.0)
    readings = [clock.now() for _ in range(1000)]
    assert readings == sorted(readings)


def test_a_manual_clock_stands_until_it_is_moved() -> None:
    clock = ManualClock()
    assert [clock.now(), clock.now()] == [0.0, 0.0]
    clock.advance(1.5)
    assert clock.now() == 1.5
    clock.set(4)
    assert clock.now() == 4.0
    clock.advance(0)
    clock.set(4.0)
    assert clock.now() == 4.0


def test_a_manual_clock_keeps_its_precision_after_steps_of_any_type() -> None:
    clock = ManualClock(1e9)
    clock.advance(float(np.float32(1)))
    clock.advance(np.float32(1))  # type: ignore[arg-type]  # NumPy says it is no float
    assert type(clock.now()) is float
    assert clock.now() == 1e9 + 2.0


def test_a_manual_clock_may_start_anywhere() -> None:
    clock = ManualClock(-10)
    clock.advance(3)
    assert clock.now() == -7.0
    assert type(clock.now()) is float


@given(st.lists(st.floats(0, 1e9), max_size=20))
def test_a_manual_clock_never_goes_backwards(steps: list[float]) -> None:
    clock = ManualClock(-5.0)
    previous = clock.now()
    for step in steps:
        clock.advance(step)
        assert clock.now() == previous + step >= previous
        previous = clock.now()


@pytest.mark.parametrize("seconds", [-1.0, -1e-300, math.nan, math.inf, -math.inf])
def test_a_manual_clock_does_not_advance_by_a_negative_time(seconds: float) -> None:
    clock = ManualClock(3.0)
    with pytest.raises(ParameterError) as raised:
        clock.advance(seconds)
    assert raised.value.name == "seconds"
    assert clock.now() == 3.0


@pytest.mark.parametrize("now", [2.999, math.nan, math.inf, -math.inf])
def test_a_manual_clock_is_not_set_back(now: float) -> None:
    clock = ManualClock(3.0)
    with pytest.raises(ParameterError, match="now"):
        clock.set(now)
    assert clock.now() == 3.0


@pytest.mark.parametrize("start", [math.nan, math.inf, -math.inf])
def test_a_manual_clock_starts_at_a_finite_time(start: float) -> None:
    with pytest.raises(ParameterError) as raised:
        ManualClock(start)
    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value, UpStreamError)


def test_ticks_and_their_origin_make_the_clocks_time(walls: Walls) -> None:
    clock = SystemClock()
    ticks, origin = ticks_of(clock)
    walls.monotonic += 7.0
    assert ticks() + origin == clock.now() == 1_700_000_007.0
    assert ticks() == walls.monotonic, "a reading that costs more than the machine's own"


def test_the_ticks_of_any_clock_are_floats() -> None:
    class CountingClock:
        def now(self) -> float:
            return np.float32(3)  # type: ignore[return-value]  # NumPy says it is no float

    ticks, _ = ticks_of(CountingClock())
    assert type(ticks()) is float


def test_the_ticks_of_any_other_clock_are_its_time() -> None:
    class Slow(SystemClock):
        """A system clock by inheritance, which tells another time."""

        __slots__ = ()

        def now(self) -> float:
            return 12.0

    manual = ManualClock(5.0)
    clocks: list[tuple[Clock, float]] = [(manual, 5.0), (Slow(), 12.0)]
    for clock, expected in clocks:
        ticks, origin = ticks_of(clock)
        assert (ticks(), origin) == (expected, 0.0)
    ticks, _ = ticks_of(manual)
    manual.advance(1.0)
    assert ticks() == 6.0


@given(st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_a_clock_that_steps_back_stands_still_until_it_has_caught_up(readings: list[float]) -> None:
    rest = iter(readings)
    ticks = SteadyTicks(lambda: next(rest))
    told = [ticks() for _ in readings]
    assert told == [max(readings[: number + 1]) for number in range(len(readings))]
    assert steps_back_of(ticks) == sum(
        1 for reading, time in zip(readings, told, strict=True) if reading < time
    )


@pytest.mark.parametrize("reading", [math.nan, math.inf, -math.inf])
def test_an_invalid_time_is_refused_and_changes_nothing(reading: float) -> None:
    readings = iter([1.0, reading, 2.0])
    ticks = SteadyTicks(lambda: next(readings))
    assert ticks() == 1.0
    with pytest.raises(ParameterError, match="clock"):
        ticks()
    assert ticks() == 2.0
    assert steps_back_of(ticks) == 0


def test_the_last_time_is_returned_without_reading_the_clock() -> None:
    readings = iter([1.0])
    ticks = SteadyTicks(lambda: next(readings))
    ticks()
    assert again_of(ticks)() == 1.0


def test_the_clocks_of_the_library_never_step_back() -> None:
    for clock in (SystemClock(), ManualClock()):
        ticks, _ = ticks_of(clock)
        assert not isinstance(ticks, SteadyTicks)
        assert again_of(ticks) is ticks
        assert steps_back_of(ticks) == 0


def test_a_stopwatch_advances_and_never_goes_back() -> None:
    watch = Stopwatch()
    first = watch.now()
    assert watch.now() >= first
    assert sum(range(100_000)) > 0
    assert watch.now() > first
