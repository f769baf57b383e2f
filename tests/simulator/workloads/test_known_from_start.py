"""A workload in which each key arrives once at time 0, before anything else."""

from __future__ import annotations

import pytest

from simulator.workloads.bursts import Bursts
from simulator.workloads.key_rates import zipf
from simulator.workloads.known_from_start import KnownFromStart
from simulator.workloads.sources import FixedInterval, Poisson
from simulator.workloads.workload import Workload

from .contract import draw

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
