"""Arrivals that are known beforehand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simulator.workloads.recorded import Recorded, mean_gap, replay
from simulator.workloads.trace_file import TraceFile

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
def test_what_cannot_be_played_is_our_mistake(times: list[float], codes: list[int]) -> None:
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
