"""Windows by their size, slide and tick: what a tuple starts, belongs to and closes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ParameterError, TimeNotFiniteError, TimeOutOfRangeError, WindowSpecification

SECONDS = st.sampled_from([0.1, 0.25, 0.3, 0.5, 1, 2, 3, 5, 7.5, 60, 1e-6, 1e9])
TIMES = st.one_of(
    st.integers(-1_000, 1_000).map(float),
    st.floats(-1e6, 1e6),
    st.integers(-300, 300).map(lambda tenths: tenths / 10),
)


def test_windows_tumble_slide_or_leave_gaps() -> None:
    # time         0    1    2    3    4    5    6
    # size 2, 2    [----0----)[----1----)[----2----)
    assert [list(WindowSpecification(2, 2).holding(t)) for t in (0, 1, 2, 3.5)] == [
        [0],
        [0],
        [1],
        [1],
    ]
    # size 3, 1    [------0------)
    #                   [------1------)
    #                        [------2------)
    assert list(WindowSpecification(3, 1).holding(2)) == [0, 1, 2]
    # size 2, 5    [----0----)              [----1---
    gaps = WindowSpecification(2, 5)
    assert [list(gaps.holding(t)) for t in (1.9, 2, 4.9, 5)] == [[0], [], [], [1]]


def test_windows_reach_into_negative_times() -> None:
    windows = WindowSpecification(3, 2)
    assert (windows.start(-2), windows.end(-2)) == (-4.0, -1.0)
    assert list(windows.holding(-3)) == [-2]
    assert list(windows.holding(-1.5)) == [-2, -1]


@pytest.mark.parametrize(
    ("size", "slide", "overlap"),
    [(2, 2, 1), (3, 1, 3), (5, 2, 3), (2, 5, 1), (0.9, 0.3, 3), (0.7, 0.1, 7), (1, 0.3, 4)],
)
def test_the_overlap_is_size_by_slide_rounded_up(size: float, slide: float, overlap: int) -> None:
    assert WindowSpecification(size, slide).overlap == overlap


def test_without_a_tick_a_window_is_closed_from_its_end_on() -> None:
    windows = WindowSpecification(3, 1)
    assert windows.closing_time(1) == 4
    assert [windows.newest_closed(time) for time in (3, 3.9, 4, 5)] == [0, 0, 1, 2]


def test_with_a_tick_a_window_is_closed_from_its_last_tick_on() -> None:
    windows = WindowSpecification(3, 1, tick=1)
    assert windows.closing_time(1) == 3
    assert [windows.newest_closed(time) for time in (2, 3, 3.9, 4)] == [0, 1, 1, 2]


def test_a_key_can_open_windows_that_start_at_its_first_tuple_or_later() -> None:
    windows = WindowSpecification(3, 2)
    assert [windows.first(time) for time in (-0.5, 0, 0.1, 2)] == [0, 0, 1, 1]


@given(SECONDS, SECONDS, TIMES)
def test_the_windows_that_hold_a_time_are_those_that_the_formula_says(
    size: float, slide: float, time: float
) -> None:
    if size / slide > 1_000:
        size = slide * 1_000
    windows = WindowSpecification(size, slide)
    middle = math.floor(time / slide)
    around = range(middle - windows.overlap - 2, middle + 3)
    expected = [i for i in around if i * slide <= time < i * slide + size]
    assert list(windows.holding(time)) == expected
    assert windows.newest_ended(time) == max(i for i in around if i * slide + size <= time)
    assert windows.newest(time) == max(i for i in around if i * slide <= time)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 8), TIMES)
def test_a_tick_closes_what_the_formula_says(
    size: int, slide: int, ticks: int, time: float
) -> None:
    tick = 1 / ticks if ticks in {1, 2, 4, 8} else 1
    windows = WindowSpecification(size, slide, tick)
    middle = math.floor(time / slide)
    around = range(middle - windows.overlap - 3, middle + 3)
    expected = max(i for i in around if i * slide + size - tick <= time)
    assert windows.newest_closed(time) == expected


@given(SECONDS, SECONDS, TIMES)
def test_rounding_moves_a_border_by_no_more_than_rounding(
    size: float, slide: float, time: float
) -> None:
    windows = WindowSpecification(size, slide)
    exact = Fraction(time) / Fraction(slide)
    assert abs(windows.newest(time) - math.floor(exact)) <= 1


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "3", None, True, [1]])
@pytest.mark.parametrize("name", ["size", "slide"])
def test_a_size_or_slide_is_a_number_above_zero(name: str, wrong: object) -> None:
    with pytest.raises(ParameterError, match=name):
        WindowSpecification(**{"size": 2.0, "slide": 2.0, name: wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, -1, math.nan, "1"])
def test_a_tick_is_a_number_above_zero(wrong: float) -> None:
    with pytest.raises(ParameterError, match="tick"):
        WindowSpecification(2, 2, tick=wrong)


@pytest.mark.parametrize(("size", "slide", "name"), [(2.5, 1, "size"), (3, 1.5, "slide")])
def test_size_and_slide_are_multiples_of_the_tick(size: float, slide: float, name: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{name} must be a multiple of the tick"):
        WindowSpecification(size, slide, tick=1)


@pytest.mark.parametrize(("size", "tick"), [(1e9, 1e-300), (0.03, 5e-324), (1.0, 2.0**-51)])
def test_a_tick_that_floats_cannot_count_is_refused(size: float, tick: float) -> None:
    with pytest.raises(ParameterError, match="multiple of the tick"):
        WindowSpecification(size, size, tick=tick)


def test_fractional_multiples_of_a_tick_are_multiples() -> None:
    assert WindowSpecification(0.7, 0.1, tick=0.1).overlap == 7


def test_size_and_slide_are_of_comparable_magnitude() -> None:
    with pytest.raises(ParameterError, match="comparable to the slide"):
        WindowSpecification(1e300, 1e-300)


def test_a_time_whose_window_cannot_be_computed_is_refused() -> None:
    windows = WindowSpecification(3, 1)
    assert windows.newest(1e15) == 10**15
    with pytest.raises(TimeOutOfRangeError, match="too far from zero") as caught:
        windows.newest(1e18)
    assert (caught.value.time, caught.value.slide) == (1e18, 1.0)
    for no_time in (math.nan, math.inf, -math.inf):
        with pytest.raises(TimeNotFiniteError):
            windows.newest(no_time)


def test_numbers_of_other_types_become_floats() -> None:
    windows = WindowSpecification(Fraction(3, 2), 1)  # type: ignore[arg-type]
    assert (windows.size, windows.slide, windows.tick) == (1.5, 1.0, None)
    assert windows == WindowSpecification(1.5, 1.0)
