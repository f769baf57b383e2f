"""Rates are estimated without bias, and counters are exact; costs are in test_processing_cost."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import FrozenInstanceError, fields, replace
from itertools import accumulate, islice

import pytest

from upstream.errors import ParameterError, RateError
from upstream.keys import KeyCell
from upstream.statistics import (
    DEFAULT_FORGETTING,
    EstimatedRates,
    GivenRates,
    QueueStatistics,
)
from upstream.updates import Key


class Source:
    """One key whose updates arrive as a stream would take them in."""

    def __init__(self, rates: EstimatedRates, *, index: int = 0, arrival: float = 0.0) -> None:
        self.rates = rates
        self.cell = KeyCell(f"key {index}", index, time=arrival, arrival=arrival)
        rates.begin(self.cell)
        self.cell.version = 1

    def arrive(self, now: float, *, looks: bool = True, rows: int = 1) -> float | None:
        """Let an update arrive, before which a scheduler may ask for the rate so far."""
        rate = self.rates.observe(self.cell) if looks else None
        self.cell.version += rows
        self.cell.arrival = now
        return rate

    def rate(self) -> float | None:
        """Return what is reported."""
        return self.rates.rate(self.cell)

    def expected(self) -> float | None:
        """Return what a scheduler is told."""
        return self.rates.observe(self.cell)


def poisson(rate: float, *, seed: int) -> Iterator[float]:
    """Yield times of arrivals that are memoryless."""
    generator = random.Random(seed)
    return accumulate(iter(lambda: generator.expovariate(rate), None), initial=0.0)


def regular(rate: float) -> Iterator[float]:
    """Yield times of arrivals at fixed intervals."""
    return (number / rate for number in iter(range(10**9)))


def known(rate: float | None) -> float:
    assert rate is not None
    return rate


# Estimates: what a few arrivals tell.


def test_one_arrival_determines_no_rate() -> None:
    source = Source(EstimatedRates())
    assert source.rate() is None
    assert source.expected() is None


def test_two_arrivals_determine_an_interval() -> None:
    source = Source(EstimatedRates(), arrival=10.0)
    assert source.arrive(14.0) is None
    assert source.rate() == 0.25


def test_a_scheduler_is_told_of_no_rate_before_the_second_interval() -> None:
    source = Source(EstimatedRates(), arrival=10.0)
    source.arrive(14.0)
    assert source.arrive(18.0) is None, "an estimate that knows of the arrival that asks for it"
    assert source.rate() == 0.25
    assert source.arrive(22.0) == pytest.approx(0.25 / 2)


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize(("forgetting", "most"), [(0.05, 20), (0.1, 10), (0.5, 2)])
def test_a_scheduler_is_told_a_rate_that_is_lower_the_fewer_intervals_count(
    forgetting: float, most: int, looks: bool
) -> None:
    for intervals in (2, 3, 5, 19, 20, 21, 100):
        source = Source(EstimatedRates(forgetting))
        for number in range(1, intervals + 1):
            source.arrive(4.0 * number, looks=looks)
        counting = min(intervals, most)
        assert source.rate() == pytest.approx(0.25)
        assert source.expected() == pytest.approx(0.25 * (1 - 1 / counting))


def test_with_forgetting_of_one_a_scheduler_is_told_half_the_rate_of_the_last_interval() -> None:
    source = Source(EstimatedRates(1.0))
    told = [source.arrive(float(number)) for number in range(1, 6)]
    assert told == [None, None, 0.5, 0.5, 0.5]
    assert source.expected() == 0.5


def test_arrivals_at_one_instant_tell_nothing_until_time_has_passed() -> None:
    source = Source(EstimatedRates())
    for _ in range(3):
        assert source.arrive(0.0) is None
    assert source.rate() is None
    source.arrive(2.0)
    assert source.rate() == pytest.approx(4 / 2.0)
    source.arrive(2.0)
    assert source.arrive(4.0) == pytest.approx(4 / 2.0 * (1 - 1 / 4))
    assert source.rate() == pytest.approx(6 / 4.0)


def test_a_batch_of_one_key_counts_all_its_rows() -> None:
    source = Source(EstimatedRates())
    source.arrive(5.0, rows=10)
    assert source.rate() == 2.0


def test_looking_changes_no_estimate() -> None:
    looked_at, alone = Source(EstimatedRates()), Source(EstimatedRates())
    for number, now in enumerate(islice(poisson(1.0, seed=1), 1, 30)):
        looked_at.arrive(now)
        alone.arrive(now)
        before = looked_at.rate()
        looks = {looked_at.expected() for _ in range(number % 3)}
        assert len(looks) <= 1
        assert looked_at.rate() == before
        assert known(looked_at.rate()) == pytest.approx(known(alone.rate()))


@pytest.mark.parametrize("forgetting", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("arrivals", [2, 5, 200])
def test_intervals_folded_together_have_the_same_weight_as_one_by_one(
    forgetting: float, arrivals: int
) -> None:
    """Each interval is the same here, so that only their weight against the past is told."""
    at_once, one_by_one = Source(EstimatedRates(forgetting)), Source(EstimatedRates(forgetting))
    for source in (at_once, one_by_one):
        for number in range(1, 101):
            source.arrive(float(number))
    for number in range(1, arrivals + 1):
        at_once.arrive(100.0 + 4.0 * number, looks=number == 1)
        one_by_one.arrive(100.0 + 4.0 * number)
    if arrivals > 1:
        assert at_once.rate() == pytest.approx(known(one_by_one.rate()), rel=0.05)


def test_keys_do_not_mix_and_a_number_that_is_used_again_starts_anew() -> None:
    rates = EstimatedRates()
    sources = [Source(rates, index=index) for index in (3, 0, 7)]
    for number in range(1, 20):
        for factor, source in enumerate(sources, 1):
            source.arrive(number * float(factor))
    assert [source.rate() for source in sources] == pytest.approx([1.0, 1 / 2, 1 / 3])
    again = Source(rates, index=0, arrival=100.0)
    assert again.rate() is None
    again.arrive(110.0)
    assert again.rate() == pytest.approx(0.1)
    assert sources[0].rate() == pytest.approx(1.0)
    assert sources[2].rate() == pytest.approx(1 / 3)


# Estimates: what many arrivals tell.

RATES = [0.001, 0.1, 1.0, 30.0, 10_000.0]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("looks_at_each", [1, 7, 1000])
def test_the_rate_of_regular_arrivals_is_exact(rate: float, looks_at_each: int) -> None:
    source = Source(EstimatedRates())
    for number, now in enumerate(islice(regular(rate), 1, 3000)):
        source.arrive(now, looks=number % looks_at_each == 0)
        assert source.rate() == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("looks_at_each", [1, 7, 400])
def test_the_rate_of_memoryless_arrivals_has_the_error_of_a_hundred_of_them(
    rate: float, looks_at_each: int
) -> None:
    """With the weight 0.02 for the newest, the mean interval has the error of (2 - f) / f = 99."""
    source = Source(EstimatedRates(0.02))
    intervals = []
    for number, now in enumerate(islice(poisson(rate, seed=7), 1, 40_000)):
        source.arrive(now, looks=number % looks_at_each == 0)
        if number > 1000 and number % 400 == 0:
            intervals.append(rate / known(source.rate()))
    mean = sum(intervals) / len(intervals)
    spread = math.sqrt(sum((interval - 1) ** 2 for interval in intervals) / len(intervals))
    assert mean == pytest.approx(1.0, abs=4 * 0.1 / math.sqrt(len(intervals)))
    assert 0.04 < spread < 0.13


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("intervals", [5, 10, 20])
def test_a_scheduler_gets_the_rate_of_few_memoryless_intervals_on_average(
    rate: float, intervals: int
) -> None:
    """The relative error of one such estimate is 1 / sqrt(n - 2), that of 2,000 at most 0.013."""
    estimates = []
    for seed in range(2000):
        source = Source(EstimatedRates())
        for now in islice(poisson(rate, seed=seed), 1, intervals + 1):
            source.arrive(now)
        estimates.append(known(source.expected()) / rate)
    assert sum(estimates) / len(estimates) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0, 5.0, 100.0])
def test_a_rate_is_unbiased_whether_its_key_is_slower_or_faster_than_its_queue(
    rate: float,
) -> None:
    """The key is served each second, and looked at when it starts to wait again."""
    source = Source(EstimatedRates(0.02))
    arrivals = islice(poisson(rate, seed=11), 1, int(min(max(20_000.0, 3000 * rate), 200_000.0)))
    served_until = 0.0
    estimates, intervals = [], []
    for number, now in enumerate(arrivals):
        starts = now >= served_until
        mean_rate = source.rate()
        estimate = source.arrive(now, looks=starts)
        if starts:
            served_until = math.floor(now) + 1.0
            if number > 1000:
                estimates.append(known(estimate) / rate)
                intervals.append(rate / known(mean_rate))
    assert len(estimates) > 900
    assert sum(estimates) / len(estimates) == pytest.approx(1.0, abs=0.04)
    assert sum(intervals) / len(intervals) == pytest.approx(1.0, abs=0.04)


@pytest.mark.parametrize("forgetting", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("intervals", [1, 10, 60])
def test_the_past_fades_by_the_rate_of_forgetting_with_each_interval(
    forgetting: float, intervals: int
) -> None:
    source = Source(EstimatedRates(forgetting))
    for number in range(1, 2001):
        source.arrive(float(number))
    for number in range(1, intervals + 1):
        source.arrive(2000.0 + 10.0 * number)
    expected = 10.0 - 9.0 * (1 - forgetting) ** intervals
    assert 1 / known(source.rate()) == pytest.approx(expected)


@pytest.mark.parametrize("forgetting", [0.02, 0.5])
def test_the_first_arrivals_have_equal_weight(forgetting: float) -> None:
    source = Source(EstimatedRates(forgetting))
    times = [1.0, 5.0, 6.0, 16.0, 17.0, 18.0]
    for count, now in enumerate(times, 1):
        source.arrive(now)
        if forgetting <= 1 / count:
            assert 1 / known(source.rate()) == pytest.approx(now / count)


def test_with_forgetting_of_one_the_last_interval_alone_counts() -> None:
    source = Source(EstimatedRates(1.0))
    for now, interval in ((3.0, 3.0), (4.0, 1.0), (14.0, 10.0)):
        source.arrive(now)
        assert 1 / known(source.rate()) == pytest.approx(interval)


def test_the_default_is_to_count_about_the_last_twenty() -> None:
    assert DEFAULT_FORGETTING == 1 / 20


@pytest.mark.parametrize("forgetting", [0.0, -0.1, 1.1, math.nan, math.inf])
def test_a_rate_of_forgetting_is_above_zero_and_at_most_one(forgetting: float) -> None:
    with pytest.raises(ParameterError, match="forgetting"):
        EstimatedRates(forgetting)


# Rates that are given.


def new_cells(rates: GivenRates, keys: Iterable[Key]) -> list[KeyCell]:
    """Let the first updates of `keys` arrive, and return their cells."""
    cells = [KeyCell(key, index, time=0.0, arrival=0.0) for index, key in enumerate(keys)]
    for cell in cells:
        rates.begin(cell, rates.given(cell.key))
    return cells


def test_given_rates_are_those_of_the_mapping_and_unknown_beside_it() -> None:
    rates = GivenRates({"A": 2, "B": 0.0})
    cells = new_cells(rates, "BCA")
    for rate in (rates.rate, rates.observe):
        assert [rate(cell) for cell in cells] == [0.0, None, 2.0]


def test_given_rates_may_be_a_function_of_the_key() -> None:
    rates = GivenRates(lambda key: 2.0 if key == "A" else 3.0)
    cells = new_cells(rates, "AB")
    for rate in (rates.rate, rates.observe):
        assert [rate(cell) for cell in cells] == [2.0, 3.0]


def test_a_function_of_rates_is_called_once_for_each_key() -> None:
    asked: list[Key] = []

    def given(key: Key) -> float:
        asked.append(key)
        return float(len(asked))

    rates = GivenRates(given)
    (cell,) = new_cells(rates, "A")
    rate = rates.rate(cell)
    asked.clear()
    assert [rates.observe(cell), rates.rate(cell), rates.observe(cell)] == [rate] * 3
    assert asked == []


def test_a_key_that_reuses_a_number_has_its_own_given_rate() -> None:
    rates = GivenRates({"A": 2.0, "C": 3.0})
    new_cells(rates, "A")
    for key, rate in (("B", None), ("C", 3.0)):
        (cell,) = new_cells(rates, key)
        assert rates.rate(cell) == rate


@pytest.mark.parametrize("given", [5.0, None, "rates", [("A", 1.0)]])
def test_given_rates_are_a_mapping_or_a_function_and_nothing_else(given: object) -> None:
    with pytest.raises(ParameterError) as raised:
        GivenRates(given)  # type: ignore[arg-type]
    assert raised.value.name == "rates"
    assert raised.value.value is given


NO_RATES = [-1.0, -5e-324, math.nan, math.inf, -math.inf, "1", None, 1j]


@pytest.mark.parametrize("number", NO_RATES)
def test_an_invalid_rate_is_refused(number: float) -> None:
    with pytest.raises(RateError, match="'B'") as raised:
        GivenRates({"A": 1.0, "B": number})
    assert raised.value.value is number
    rates = GivenRates(lambda key: number if key == "B" else 1.0)
    rates.given("A")
    with pytest.raises(RateError, match="'B'"):
        rates.given("B")


# The counters.

COUNTERS = QueueStatistics(
    arrived=100,
    returned=7,
    dequeued=50,
    superseded=30,
    late=9,
    expired=8,
    shed=4,
    rejected=3,
    waiting=3,
    delivered=40,
    taken_as_delivered=1,
    in_process=3,
    keys=12,
    forgotten=2,
    switches=0,
)
BALANCED = {
    *("arrived", "returned", "dequeued", "superseded", "late", "expired", "shed", "rejected"),
    "waiting",
}


@pytest.mark.parametrize("field", [field.name for field in fields(QueueStatistics)])
def test_counters_are_balanced_if_every_update_is_accounted_for(field: str) -> None:
    assert COUNTERS.is_balanced
    one_more = replace(COUNTERS, **{field: getattr(COUNTERS, field) + 1})
    assert one_more.is_balanced == (field not in BALANCED)


def test_counters_of_dropped_arrivals_stay_balanced() -> None:
    for field in BALANCED - {"arrived", "returned"}:
        for source in ("arrived", "returned"):
            changed = {name: getattr(COUNTERS, name) + 5 for name in (field, source)}
            assert replace(COUNTERS, **changed).is_balanced


def test_statistics_are_an_immutable_snapshot() -> None:
    with pytest.raises(FrozenInstanceError):
        COUNTERS.late = 0  # type: ignore[misc]
    assert not hasattr(COUNTERS, "__dict__")
