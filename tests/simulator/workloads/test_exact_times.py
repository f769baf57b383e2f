"""Times that add up exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.workloads.exact_times import BITS, rounded_down, rounded_up

NUMBERS = st.floats(min_value=1e-6, max_value=1e6)


@given(NUMBERS)
def test_a_number_is_rounded_by_two_billionths_at_most(number: float) -> None:
    assert number <= rounded_up(number) <= number * (1 + 2.0 ** (1 - BITS))
    assert number * (1 - 2.0 ** (1 - BITS)) <= rounded_down(number) <= number


@given(NUMBERS)
def test_a_rounded_number_stays_as_it_is(number: float) -> None:
    assert rounded_up(rounded_up(number)) == rounded_up(number)
    assert rounded_down(rounded_up(number)) == rounded_up(number)


@pytest.mark.parametrize("number", [1.0, 3.0, 2.5, 0.125, 1_000_000.0])
def test_short_numbers_are_left_alone(number: float) -> None:
    assert rounded_up(number) == rounded_down(number) == number


@given(NUMBERS, st.integers(1, 2**22))
def test_sums_are_exact(number: float, times: int) -> None:
    cost = rounded_up(number)
    before = float(Fraction(cost) * (times - 1))
    assert Fraction(before + cost) == Fraction(cost) * times


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 500))
def test_work_that_ought_to_end_with_an_arrival_ends_with_it_or_just_after(
    updates: int, services: int, rounds: int
) -> None:
    """The cost is that of so many services in the time of so many updates."""
    cost = rounded_up(updates / services)
    done = 0.0
    for _ in range(rounds * services):
        done += cost
    arrival = float(rounds * updates)
    assert arrival <= done < arrival * (1 + 2.0 ** (1 - BITS))
