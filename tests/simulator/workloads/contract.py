"""What every workload that is drawn at random does; the test of each is a subclass of this suite.

Counts and means are compared within five standard deviations, or more, of memoryless arrivals; the
seeds are fixed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cache

import numpy as np

from simulator.workloads.workload import Arrivals, Workload, first

UPDATES = 40_000


def draw(workload: Workload, updates: int = UPDATES, *, seed: int = 7) -> Arrivals:
    """Return the first arrivals of a workload as one."""
    return joined(first(workload.arrivals(np.random.default_rng(seed)), updates))


def joined(parts: Iterator[Arrivals]) -> Arrivals:
    """Return arrivals that were drawn some at a time as one."""
    times, codes = zip(*parts, strict=True)
    return Arrivals(np.concatenate(times), np.concatenate(codes))


def assert_shared_out(codes: np.ndarray, shares: np.ndarray, *, sigmas: float = 5.0) -> None:
    """Compare the counts of keys with what their shares let expect."""
    counts = np.bincount(codes, minlength=len(shares))
    expected = shares * len(codes)
    assert len(counts) == len(shares), "a key that there is not"
    off = np.abs(counts - expected) / np.sqrt(np.maximum(expected, 1.0))
    assert off.max() < sigmas
    chi_square = float((off**2).sum())
    assert chi_square < len(shares) + sigmas * np.sqrt(2.0 * len(shares))


@cache
def drawn_by(contract: type[WorkloadContract]) -> Arrivals:
    """Return what the workload of a contract draws, once for all of its tests."""
    arrivals = draw(contract().make())
    for column in arrivals:
        column.flags.writeable = False
    return arrivals


class WorkloadContract(ABC):
    """One arrival per unit of time, each key at its rate, the same from the same seed."""

    is_memoryless = False
    is_random = True

    @abstractmethod
    def make(self) -> Workload: ...

    def drawn(self) -> Arrivals:
        """Return the first arrivals, which are not to be changed."""
        return drawn_by(type(self))

    def test_keys_and_rates_go_together_and_the_rates_are_one_in_all(self) -> None:
        workload = self.make()
        assert len(workload.keys) == len(workload.rates) == len(set(workload.keys))
        assert abs(workload.rates.sum() - 1.0) < 1e-9
        assert (workload.rates >= 0).all()

    def test_it_says_whether_it_is_memoryless(self) -> None:
        assert self.make().is_memoryless is self.is_memoryless

    def test_as_many_are_drawn_as_are_asked_for(self) -> None:
        for updates in (1, 2, 4095, 4096, 4097, 10_000):
            times, codes = draw(self.make(), updates)
            assert len(times) == len(codes) == updates

    def test_times_are_ascending_from_zero_on(self) -> None:
        times, _ = self.drawn()
        assert times[0] >= 0.0
        assert (np.diff(times) >= 0.0).all()
        assert times.dtype == np.float64

    def test_one_update_arrives_per_unit_of_time(self) -> None:
        times, _ = self.drawn()
        assert abs(times[-1] / len(times) - 1.0) < 5.0 / np.sqrt(len(times))

    def test_each_key_arrives_at_its_rate(self) -> None:
        assert_shared_out(self.drawn().codes, self.make().rates)

    def test_each_key_arrives_at_its_rate_in_the_first_and_in_the_last_half(self) -> None:
        codes, rates = self.drawn().codes, self.make().rates
        for half in (codes[: UPDATES // 2], codes[UPDATES // 2 :]):
            assert_shared_out(half, rates)

    def test_the_same_seed_gives_the_same_arrivals_every_time(self) -> None:
        workload = self.make()
        before, once, again = self.drawn(), draw(workload), draw(workload)
        for other in (once, again):
            assert (before.times == other.times).all()
            assert (before.codes == other.codes).all()

    def test_another_seed_gives_others(self) -> None:
        workload = self.make()
        once, other = draw(workload, seed=1), draw(workload, seed=2)
        is_same = (once.times == other.times).all() and (once.codes == other.codes).all()
        assert is_same != self.is_random
