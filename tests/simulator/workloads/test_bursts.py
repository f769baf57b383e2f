"""Slow updaters that update all at once."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.workloads.bursts import LONGEST_STRETCH, Bursts
from simulator.workloads.key_rates import two_classes, uniform, zipf
from simulator.workloads.workload import Workload

from .contract import UPDATES, WorkloadContract, draw

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
        assert self.make().rates == pytest.approx(zipf(10, 0.9).shares)


def test_the_slowest_keys_burst_and_share_their_rates_equally() -> None:
    shares = zipf(10, 1.0).shares
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
def test_the_number_of_bursting_keys_must_make_sense(bursting: int) -> None:
    with pytest.raises(OptionError, match=f"bursting {bursting}: expected .* from 1 to 10"):
        Bursts(uniform(10), bursting=bursting)


@pytest.mark.parametrize("spread", [-1.0, math.nan, math.inf, 10.1])
def test_the_spread_must_make_sense(spread: float) -> None:
    with pytest.raises(OptionError, match=r"spread .*: expected a number from 0 to 10, the mean"):
        Bursts(uniform(10), bursting=10, spread=spread)
