"""What workloads have in common: how much is drawn, exact sums, and keys known from the start."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import OptionError
from simulator.workloads.sources import Bursts, FixedInterval, Poisson
from simulator.workloads.workload import (
    BITS,
    Arrivals,
    KnownFromStart,
    Workload,
    first,
    rounded_down,
    rounded_up,
    two_classes,
    uniform,
    zipf,
)

from .contract import draw


def counted(drawn: list[int]) -> Iterator[Arrivals]:
    """Draw arrivals of one key at 0, 1, 2, and so on, three at a time, and note each draw."""
    while True:
        start = 3 * len(drawn)
        drawn.append(start)
        yield Arrivals(np.arange(start, start + 3.0), np.zeros(3, dtype=np.int64))


@pytest.mark.parametrize(("updates", "draws"), [(1, 1), (3, 1), (4, 2), (6, 2), (10, 4)])
def test_the_first_arrivals_are_drawn_and_no_more(updates: int, draws: int) -> None:
    drawn: list[int] = []
    parts = list(first(counted(drawn), updates))
    assert np.concatenate([part.times for part in parts]).tolist() == list(range(updates))
    assert sum(len(part.codes) for part in parts) == updates
    assert len(drawn) == draws


def test_of_fewer_arrivals_all_are_the_first() -> None:
    drawn: list[int] = []
    three = next(counted(drawn))
    [part] = first(iter([three]), 100)
    assert part.times.tolist() == [0.0, 1.0, 2.0]


def test_draws_without_arrivals_are_no_end() -> None:
    nothing = Arrivals(np.empty(0), np.empty(0, dtype=np.int64))
    drawn: list[int] = []
    parts = first(iter([nothing, next(counted(drawn)), nothing, next(counted(drawn))]), 5)
    assert sum(len(part.times) for part in parts) == 5


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


KEYS = 30


@pytest.mark.parametrize(
    "workload",
    [Poisson(zipf(KEYS, 1.2)), FixedInterval(zipf(KEYS, 1.2)), Bursts(zipf(KEYS, 1.2), bursting=3)],
)
def test_each_key_arrives_at_time_0_and_then_the_workload_as_it_would_without(
    workload: Workload,
) -> None:
    known = KnownFromStart(workload)
    times, codes = draw(known, 1_000 + KEYS)
    assert times[:KEYS].tolist() == [0.0] * KEYS
    assert codes[:KEYS].tolist() == list(range(KEYS))
    alone = draw(workload, 1_000)
    assert (times[KEYS:] == alone.times).all()
    assert (codes[KEYS:] == alone.codes).all()


def test_it_has_the_keys_and_rates_of_its_workload() -> None:
    workload = Poisson(zipf(KEYS, 1.2))
    known = KnownFromStart(workload)
    assert known.keys == workload.keys
    assert (known.rates == workload.rates).all()
    assert known.is_memoryless
    assert not KnownFromStart(FixedInterval(zipf(KEYS, 1.2))).is_memoryless


# Shares of keys.


def test_shares_are_those_of_the_laws() -> None:
    assert uniform(4).tolist() == [0.25] * 4
    assert zipf(2, 1.0).tolist() == [2 / 3, 1 / 3]
    assert two_classes(3, slow=1, ratio=2.0).tolist() == [0.4, 0.4, 0.2]


def test_invalid_parameters_raise_option_errors() -> None:
    with pytest.raises(OptionError, match="keys 0: expected a whole number from 1 to 10,000,000"):
        uniform(0)
    with pytest.raises(OptionError, match=r"theta -1\.0: expected a number from 0"):
        zipf(10, -1.0)
    with pytest.raises(OptionError, match="slow keys 11: expected a number from 0 to 10"):
        two_classes(10, 11, 2.0)
