"""The generated trading day: its symbols, their updates, and its hours."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.workloads.recorded import replay
from simulator.workloads.trading_day import trading_day
from upstream.workloads.trading_day import CLOSES, OPENS, SHAPES, intensity, updates_by_rank

EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES)


@EVERY_SHAPE
def test_the_day_has_the_ends_that_the_report_tells(shape: str) -> None:
    day = trading_day(shape, seed=1)
    counted = Counter(day.codes.tolist())
    assert (len(day.keys), max(counted.values()), min(counted.values())) == (3_000, 4_305, 1)
    assert counted.keys() == set(range(3_000))


@EVERY_SHAPE
def test_the_updates_are_those_of_the_ranks(shape: str) -> None:
    day = trading_day(shape, seed=2)
    counts = updates_by_rank(shape).tolist()
    assert sorted(np.bincount(day.codes), reverse=True) == counts


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


def test_the_opening_and_the_closing_half_hour_are_busier_than_noon() -> None:
    times = trading_day("lognormal", seed=1).times
    halves, _ = np.histogram(times, bins=np.arange(OPENS, CLOSES + 1, 1800))
    assert halves.argmin() in (5, 6, 7)
    assert halves[0] > 2.5 * halves[6]
    assert halves[-1] > 2 * halves[6]
    assert np.all(np.diff(halves[:6]) < 0)
    assert np.all(np.diff(halves[-5:]) > 0)


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


def test_a_small_day_can_be_had() -> None:
    day = trading_day(seed=1, symbols=2, busiest=3)
    assert sorted(np.bincount(day.codes)) == [1, 3]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(OptionError, match="shape flat: expected power-law or lognormal"):
        trading_day("flat")
    with pytest.raises(OptionError, match="symbols 1: expected a number from 2 to 160,000"):
        trading_day(symbols=1)
    with pytest.raises(OptionError, match="busiest 0"):
        trading_day(busiest=0)
