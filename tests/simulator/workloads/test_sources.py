"""Arrivals drawn at random: each kind keeps the contract, and its own law."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.workloads.sources import (
    DRAWN_AT_ONCE,
    LONGEST_STRETCH,
    Bernoulli,
    Bursts,
    ChangingRates,
    FixedInterval,
    Poisson,
    RoundRobin,
)
from simulator.workloads.workload import Workload, two_classes, uniform, zipf

from .contract import UPDATES, WorkloadContract, assert_shared_out, draw


class TestPoisson(WorkloadContract):
    is_memoryless = True

    def make(self) -> Workload:
        return Poisson(zipf(50, 0.9))

    def test_times_between_arrivals_are_exponential(self) -> None:
        gaps = np.diff(draw(self.make(), 100_000).times)
        assert gaps.mean() == pytest.approx(1.0, abs=5 / math.sqrt(len(gaps)))
        assert gaps.var() == pytest.approx(1.0, abs=5 * math.sqrt(8 / len(gaps)))
        for longer in (0.1, 1.0, 3.0):
            chance = math.exp(-longer)
            noise = math.sqrt(chance * (1 - chance) / len(gaps))
            assert (gaps > longer).mean() == pytest.approx(chance, abs=5 * noise)

    def test_a_time_says_nothing_about_the_next_one_nor_about_the_key(self) -> None:
        times, codes = draw(self.make(), 100_000)
        gaps = np.diff(times)
        for other in (gaps[1:], codes[1:-1]):
            assert abs(np.corrcoef(gaps[:-1], other)[0, 1]) < 5 / math.sqrt(len(gaps))

    def test_nothing_is_special_about_where_one_draw_ends(self) -> None:
        gaps = np.diff(draw(self.make(), 200 * DRAWN_AT_ONCE).times)
        borders = gaps[DRAWN_AT_ONCE - 1 :: DRAWN_AT_ONCE]
        assert borders.mean() == pytest.approx(1.0, abs=5 / math.sqrt(len(borders)))

    def test_each_key_alone_is_memoryless_too(self) -> None:
        times, codes = draw(self.make(), 100_000)
        for key in (0, 9):
            gaps = np.diff(times[codes == key])
            assert gaps.std() == pytest.approx(gaps.mean(), rel=5 / math.sqrt(len(gaps)))


class TestFixedInterval(WorkloadContract):
    def make(self) -> Workload:
        return FixedInterval(zipf(50, 0.9))

    def test_one_update_arrives_at_each_whole_number(self) -> None:
        assert (self.drawn().times == np.arange(UPDATES)).all()

    def test_the_arrivals_of_a_key_are_bernoulli_trials(self) -> None:
        times, codes = draw(self.make(), 100_000)
        share = self.make().rates[0]
        gaps = np.diff(times[codes == 0])
        assert gaps.var() == pytest.approx((1 - share) / share**2, rel=0.1)
        assert (gaps == 1).mean() == pytest.approx(share, rel=0.05)


class TestRoundRobin(WorkloadContract):
    is_random = False

    def make(self) -> Workload:
        return RoundRobin(uniform(7))

    def test_the_keys_take_turns_at_whole_numbers(self) -> None:
        times, codes = self.drawn()
        assert (times == np.arange(UPDATES)).all()
        assert (codes == np.arange(UPDATES) % 7).all()

    def test_keys_in_turn_cannot_have_unequal_shares(self) -> None:
        with pytest.raises(AssertionError):
            RoundRobin(zipf(7, 1.0))


class TestBernoulli(WorkloadContract):
    tick = 1.0

    def make(self) -> Workload:
        return Bernoulli(zipf(50, 0.9), tick=self.tick)

    def test_times_are_ticks_and_a_key_comes_at_most_once_in_each(self) -> None:
        times, codes = self.drawn()
        ticks = times / self.tick
        assert ticks == pytest.approx(np.round(ticks), abs=1e-3)
        assert len(set(zip(np.round(ticks).tolist(), codes.tolist(), strict=True))) == UPDATES

    def test_each_key_comes_or_not_on_its_own(self) -> None:
        """The number in a tick varies as that of independent trials does."""
        times, codes = self.drawn()
        ticks = np.round(times / self.tick).astype(int)
        chances = self.make().rates * self.tick
        counts = np.bincount(ticks)[:-1]
        noise = 5 / math.sqrt(len(counts))
        assert counts.mean() == pytest.approx(self.tick, abs=5 * math.sqrt(self.tick / len(counts)))
        assert counts.var() == pytest.approx((chances * (1 - chances)).sum(), rel=2 * noise)
        busiest = np.bincount(ticks[codes == 0], minlength=len(counts))
        assert busiest.mean() == pytest.approx(chances[0], abs=noise)

    def test_the_order_within_a_tick_is_random(self) -> None:
        times, codes = draw(self.make(), 100_000)
        is_pair = (times[1:] == times[:-1]) & (codes[1:] != codes[:-1])
        is_rising = codes[1:][is_pair] > codes[:-1][is_pair]
        assert len(is_rising) > 1_000
        assert is_rising.mean() == pytest.approx(0.5, abs=2.5 / math.sqrt(len(is_rising)))


class TestBernoulliWithManyPerTick(TestBernoulli):
    tick = 4.0

    def make(self) -> Workload:
        return Bernoulli(zipf(50, 0.5), tick=self.tick)


class TestBernoulliWithFewPerTick(TestBernoulli):
    tick = 0.1


@pytest.mark.parametrize("shares", [[], [0.5, 0.4], [math.nan, 1.0]], ids=["none", "less", "nan"])
def test_shares_that_do_not_add_up_to_1_fail_an_assertion(shares: list[float]) -> None:
    with pytest.raises(AssertionError):
        Poisson(np.array(shares))


def test_bernoulli_takes_more_keys_than_are_drawn_at_once() -> None:
    workload = Bernoulli(uniform(2 * DRAWN_AT_ONCE))
    times, codes = draw(workload, 2_000)
    assert times[-1] == pytest.approx(2_000, rel=0.15)
    assert len(set(codes.tolist())) > 1_500


@pytest.mark.parametrize("tick", [0.0, -1.0, 1e-9, 2.01, math.nan, math.inf])
def test_an_invalid_tick_is_refused(tick: float) -> None:
    with pytest.raises(OptionError, match=r"tick .*: expected at least 0.001 and at most 2, bec"):
        Bernoulli(uniform(2), tick=tick)


class TestChangingRates(WorkloadContract):
    period = 100.0
    phases = (zipf(20, 1.2), zipf(20, 1.2)[::-1], uniform(20))

    def make(self) -> Workload:
        return ChangingRates(self.phases, period=self.period)

    def test_the_shares_change_in_turn_at_the_period(self) -> None:
        times, codes = self.drawn()
        phases = (times // self.period).astype(int) % len(self.phases)
        for phase, shares in enumerate(self.phases):
            assert_shared_out(codes[phases == phase], shares)

    def test_the_shares_change_within_a_moment_of_the_period(self) -> None:
        only = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
        times, codes = draw(ChangingRates(only, period=12.5))
        assert (codes == (times // 12.5).astype(int) % 2).all()

    def test_the_rates_are_the_mean_of_the_phases(self) -> None:
        assert self.make().rates == pytest.approx(sum(self.phases) / 3)

    def test_times_between_arrivals_are_exponential(self) -> None:
        gaps = np.diff(self.drawn().times)
        assert gaps.std() == pytest.approx(gaps.mean(), rel=5 * math.sqrt(2 / len(gaps)))


@pytest.mark.parametrize("period", [0.0, -1.0, math.nan, math.inf, 1e9])
def test_an_invalid_period_is_refused(period: float) -> None:
    with pytest.raises(OptionError, match=r"period .*: expected a number above 0, at most"):
        ChangingRates([uniform(2)], period=period)


def test_a_short_period_has_phases_without_arrivals() -> None:
    parts = ChangingRates([uniform(2)], period=0.01).arrivals(np.random.default_rng(1))
    assert sum(len(part.times) for part in islice(parts, 1_000)) < 50


def test_keys_that_hardly_update_do_arrive() -> None:
    codes = draw(Poisson(two_classes(2, slow=1, ratio=1_000.0))).codes
    assert 10 <= codes.sum() <= 80


SLOW = 8


class TestBursts(WorkloadContract):
    spread = 0.0

    def make(self) -> Bursts:
        return Bursts(two_classes(20, SLOW, 4.0), bursting=SLOW, spread=self.spread)

    def test_a_burst_has_each_slow_key_once_at_one_moment(self) -> None:
        times, codes = self.drawn()
        slow = codes >= 20 - SLOW
        keys, moments = codes[slow], times[slow]
        bursts = len(keys) // SLOW
        for burst in range(bursts):
            rows = slice(burst * SLOW, (burst + 1) * SLOW)
            assert sorted(keys[rows].tolist()) == list(range(20 - SLOW, 20))
            assert len(set(moments[rows].tolist())) == 1

    def test_the_order_in_a_burst_is_random(self) -> None:
        codes = self.drawn().codes
        keys = codes[codes >= 20 - SLOW]
        firsts = np.bincount(keys[: len(keys) // SLOW * SLOW : SLOW] - (20 - SLOW))
        assert len(firsts) == SLOW
        expected = firsts.sum() / SLOW
        assert np.abs(firsts - expected).max() < 5 * math.sqrt(expected)

    def test_bursts_come_at_memoryless_times_as_often_as_the_slow_keys_update(self) -> None:
        workload = self.make()
        times, codes = draw(workload)
        gaps = np.diff(times[codes == 19])
        noise = 5 / math.sqrt(len(gaps))
        assert workload.interval == pytest.approx(1 / workload.rates[19])
        assert gaps.mean() == pytest.approx(workload.interval, rel=noise)
        assert gaps.std() == pytest.approx(gaps.mean(), rel=2 * noise)

    def test_between_bursts_the_other_keys_are_memoryless(self) -> None:
        times, codes = self.drawn()
        gaps = np.diff(times[codes < 20 - SLOW])
        assert gaps.std() == pytest.approx(gaps.mean(), rel=10 / math.sqrt(len(gaps)))


class TestBurstsThatSpread(WorkloadContract):
    """Bursts overlap here, as they are as long as the mean time between them."""

    def make(self) -> Bursts:
        shares = two_classes(20, SLOW, 4.0)
        return Bursts(shares, bursting=SLOW, spread=56.0)

    def test_all_slow_keys_update_equally_often_within_the_spread(self) -> None:
        codes = self.drawn().codes
        counts = np.bincount(codes)[20 - SLOW :]
        assert counts.max() - counts.min() <= 10, "but for bursts that have not ended"

    def test_the_updates_of_a_burst_are_spread_evenly(self) -> None:
        rare = Bursts(two_classes(20, SLOW, 1_000.0), bursting=SLOW, spread=60.0)
        times, codes = draw(rare, 200_000)
        slow = times[codes >= 20 - SLOW]
        bursts = np.split(slow, np.flatnonzero(np.diff(slow) > 500.0) + 1)
        whole = [burst - burst[0] for burst in bursts if len(burst) == SLOW]
        assert len(whole) > 10
        assert max(burst[-1] for burst in whole) <= 60.0
        # The range of n uniform numbers is (n - 1) / (n + 1) of the spread on average.
        assert np.mean([burst[-1] for burst in whole]) == pytest.approx(60 * 7 / 9, rel=0.2)


class TestBurstsOfAllKeys(WorkloadContract):
    def make(self) -> Workload:
        return Bursts(uniform(10), bursting=10)

    def test_nothing_arrives_in_between(self) -> None:
        times, _ = self.drawn()
        assert len(set(times.tolist())) == UPDATES // 10


class TestBurstsOfOneKey(WorkloadContract):
    def make(self) -> Workload:
        return Bursts(zipf(10, 0.9), bursting=1)

    def test_the_rates_are_those_asked_for(self) -> None:
        assert self.make().rates == pytest.approx(zipf(10, 0.9))


def test_the_slowest_keys_burst_and_share_their_rates_equally() -> None:
    shares = zipf(10, 1.0)
    workload = Bursts(zipf(10, 1.0), bursting=3)
    assert workload.rates[:7] == pytest.approx(shares[:7])
    assert workload.rates[7:] == pytest.approx([shares[7:].mean()] * 3)


def test_bursts_that_hardly_ever_come_do_not_stop_the_others() -> None:
    rare = Bursts(zipf(100, 10.0), bursting=1)
    assert rare.interval > 1e19
    parts = list(islice(rare.arrivals(np.random.default_rng(1)), 3))
    for part in parts:
        assert len(part.times) == pytest.approx(LONGEST_STRETCH, rel=0.03)
    times = np.concatenate([part.times for part in parts])
    assert (np.diff(times) >= 0).all()


@pytest.mark.parametrize("bursting", [0, -1, 11])
def test_an_invalid_number_of_bursting_keys_is_refused(bursting: int) -> None:
    with pytest.raises(OptionError, match=f"bursting {bursting}: expected .* from 1 to 10"):
        Bursts(uniform(10), bursting=bursting)


@pytest.mark.parametrize("spread", [-1.0, math.nan, math.inf, 10.1])
def test_an_invalid_spread_is_refused(spread: float) -> None:
    with pytest.raises(OptionError, match=r"spread .*: expected a number from 0 to 10, the mean"):
        Bursts(uniform(10), bursting=10, spread=spread)
