"""Arrivals that are known beforehand, and the generated trading day: its symbols and its hours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.workloads.recorded import Recorded, mean_gap, replay, trading_day
from simulator.workloads.trace_file import TraceFile
from upstream.workloads.trading_day import CLOSES, OPENS, SHAPES, intensity, updates_by_rank

from .contract import draw

TIMES = [0.5, 0.5, 2.0, 3.7, 8.5]
CODES = [1, 0, 1, 2, 1]


def test_it_is_played_back_as_it_was_written_down_whatever_the_seed() -> None:
    workload = Recorded(["A", "B", "C"], times=TIMES, codes=CODES)
    for seed in (1, 2):
        times, codes = draw(workload, 100, seed=seed)
        assert times.tolist() == TIMES
        assert codes.tolist() == CODES
    assert draw(workload, 2).codes.tolist() == CODES[:2]
    assert len(workload) == 5
    assert not workload.is_memoryless


def test_rates_are_those_seen_per_unit_of_time() -> None:
    """Five arrivals with a mean gap of 2 are half an arrival per unit of time."""
    workload = Recorded(["A", "B", "C", "never"], times=TIMES, codes=CODES)
    assert workload.rates == pytest.approx([0.1, 0.3, 0.1, 0.0])


@pytest.mark.parametrize("times", [[0.0], [3.0, 3.0]])
def test_where_no_time_passes_rates_are_shares(times: list[float]) -> None:
    workload = Recorded(["A", "B"], times=times, codes=[0] * len(times))
    assert workload.rates.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("times", "codes"),
    [
        ([], []),
        ([0.0, 1.0], [0]),
        ([1.0, 0.0], [0, 0]),
        ([-1.0, 0.0], [0, 0]),
        ([0.0, math.nan], [0, 0]),
        ([0.0, 1.0], [0, 2]),
    ],
    ids=["none", "lengths", "descending", "before 0", "no number", "no key"],
)
def test_invalid_arrivals_fail_an_assertion(times: list[float], codes: list[int]) -> None:
    with pytest.raises(AssertionError):
        Recorded(["A", "B"], times=times, codes=codes)


class TestReplay:
    """A trace of two keys, in seconds since some day, every 4 seconds on average."""

    trace = TraceFile(
        "trades", np.array([1e9, 1e9 + 1, 1e9 + 12]), np.array([0, 1, 0]), ("IBM", "SAP")
    )

    def test_a_trace_is_replayed_from_zero_with_a_mean_gap_of_one(self) -> None:
        workload = replay(self.trace)
        times, codes = draw(workload)
        assert mean_gap(self.trace) == 6.0
        assert times == pytest.approx([0.0, 1 / 6, 2.0])
        assert codes.tolist() == [0, 1, 0]
        assert workload.keys == ("IBM", "SAP")

    def test_its_rates_are_one_in_all(self) -> None:
        assert replay(self.trace).rates == pytest.approx([2 / 3, 1 / 3])


# The generated trading day


@pytest.mark.parametrize("shape", SHAPES)
def test_the_updates_are_those_of_the_ranks(shape: str) -> None:
    day = trading_day(shape, seed=2)
    counts = updates_by_rank(shape).tolist()
    assert sorted(np.bincount(day.codes), reverse=True) == counts
    assert (len(day.keys), counts[0], counts[-1]) == (3_000, 4_305, 1)


def test_symbols_are_four_letters_and_all_different_and_spell_nothing() -> None:
    keys = trading_day(seed=1).keys
    assert len(set(keys)) == len(keys)
    for key in keys:
        assert isinstance(key, str)
        assert len(key) == 4
        assert key.isupper()
        assert not set(key) & set("AEIOUY")


def test_symbols_are_in_the_order_in_which_they_first_appear() -> None:
    day = trading_day(seed=1)
    assert list(dict.fromkeys(day.codes.tolist())) == list(range(3_000))


def test_the_same_seed_makes_the_same_day_and_another_one_another() -> None:
    day, again, other = (trading_day(seed=seed) for seed in (1, 1, 2))
    assert day.keys == again.keys
    assert np.array_equal(day.times, again.times)
    assert np.array_equal(day.codes, again.codes)
    assert set(day.keys) != set(other.keys)
    assert not np.array_equal(day.times, other.times)


def test_all_updates_are_within_trading_hours_and_in_order() -> None:
    times = trading_day(seed=1).times
    assert times[0] >= 9.5 * 3600
    assert times[-1] <= 16 * 3600
    assert np.all(np.diff(times) >= 0)


def test_there_are_as_many_updates_at_each_time_as_the_intensity_says() -> None:
    times = trading_day("lognormal", seed=1).times
    edges = np.arange(OPENS, CLOSES + 1, 300)
    found, _ = np.histogram(times, bins=edges)
    expected = intensity((edges[1:] + edges[:-1]) / 2)
    shares = found / found.sum() / (expected / expected.sum())
    assert shares == pytest.approx(1.0, abs=0.08)


def test_busy_and_slow_symbols_come_at_the_same_hours() -> None:
    day = trading_day("lognormal", seed=1)
    updates = np.bincount(day.codes)[day.codes]
    busy, slow = (day.times[updates > 500].mean(), day.times[updates < 50].mean())
    assert busy == pytest.approx(slow, abs=120)


def test_the_replayed_day_has_one_update_per_unit_of_time() -> None:
    workload = replay(trading_day(seed=1))
    [(times, codes)] = workload.arrivals(np.random.default_rng(0))
    assert (times[0], times[-1], len(codes)) == (0.0, pytest.approx(31_324), 31_325)
    assert workload.rates.max() == 4_305 / 31_325


def test_a_day_may_be_small() -> None:
    day = trading_day(seed=1, symbols=2, busiest=3)
    assert sorted(np.bincount(day.codes)) == [1, 3]


def test_invalid_parameters_of_a_day_are_refused() -> None:
    with pytest.raises(OptionError, match="shape flat: expected power-law or lognormal"):
        trading_day("flat")
    with pytest.raises(OptionError, match="symbols 1: expected a number from 2 to 160,000"):
        trading_day(symbols=1)
    with pytest.raises(OptionError, match="busiest 0"):
        trading_day(busiest=0)
