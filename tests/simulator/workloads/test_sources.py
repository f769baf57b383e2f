"""Arrivals drawn at random: each kind keeps the contract, and its own law."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.workloads.key_rates import two_classes, uniform, zipf
from simulator.workloads.sources import (
    DRAWN_AT_ONCE,
    Bernoulli,
    ChangingRates,
    FixedInterval,
    Poisson,
    RoundRobin,
)
from simulator.workloads.workload import Workload

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


def test_bernoulli_takes_more_keys_than_are_drawn_at_once() -> None:
    workload = Bernoulli(uniform(2 * DRAWN_AT_ONCE))
    times, codes = draw(workload, 2_000)
    assert times[-1] == pytest.approx(2_000, rel=0.15)
    assert len(set(codes.tolist())) > 1_500


@pytest.mark.parametrize("tick", [0.0, -1.0, 1e-9, 2.01, math.nan, math.inf])
def test_the_tick_must_make_sense(tick: float) -> None:
    with pytest.raises(OptionError, match=r"tick .*: expected at least 0.001 and at most 2, bec"):
        Bernoulli(uniform(2), tick=tick)


class TestChangingRates(WorkloadContract):
    period = 100.0
    phases = (zipf(20, 1.2).shares, zipf(20, 1.2).shares[::-1], uniform(20).shares)

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
def test_the_period_must_make_sense(period: float) -> None:
    with pytest.raises(OptionError, match=r"period .*: expected a number above 0, at most"):
        ChangingRates([uniform(2).shares], period=period)


def test_a_short_period_has_phases_without_arrivals() -> None:
    parts = ChangingRates([uniform(2).shares], period=0.01).arrivals(np.random.default_rng(1))
    assert sum(len(part.times) for part in islice(parts, 1_000)) < 50


def test_keys_that_hardly_update_do_arrive() -> None:
    codes = draw(Poisson(two_classes(2, slow=1, ratio=1_000.0))).codes
    assert 10 <= codes.sum() <= 80
