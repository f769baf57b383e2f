"""Bursts: the slowest keys all together, and the others as if there were none."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from datasets.errors import BadOptionError
from datasets.generators.arrivals import Cut, Span
from datasets.generators.bursts import BurstArrivals
from datasets.generators.key_shares import ZipfShares
from simulator.workloads import sources, workload

from .chi_square import chi_square_p, dispersion_p
from .plans import moves_rows

KEYS, BURSTING = 50, 20
SHARES = ZipfShares(KEYS, 0.9)
SPAN = Span(updates=60_000, rate=100.0, start=50.0)
CUT = Cut(updates_per_block=250, blocks_per_file=16)
SPREAD = 0.9
"""In seconds, of about 0.95 between two bursts; a block has 2.5."""


def drawn(spark: SparkSession, arrivals: BurstArrivals, *, cut: Cut = CUT) -> pa.Table:
    return arrivals.draw(arrivals.frame(spark, SPAN, seed=1, cut=cut), seed=1).toArrow()


@pytest.fixture(scope="module")
def spread(spark: SparkSession) -> pa.Table:
    """Bursts that overlap one another and the edges of blocks."""
    return drawn(spark, BurstArrivals(SHARES, BURSTING, SPREAD))


@pytest.fixture(scope="module")
def at_once(spark: SparkSession) -> pa.Table:
    return drawn(spark, BurstArrivals(SHARES, BURSTING))


def times_of(table: pa.Table, key: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = table["time"].to_numpy()[table["key"].to_numpy() == key]
    return found


def test_rows_are_counted_without_gaps_and_in_order_of_time(
    spread: pa.Table, at_once: pa.Table
) -> None:
    for table in (spread, at_once):
        assert table["row"].to_pylist() == list(range(SPAN.updates))
        assert np.all(np.diff(table["time"].to_numpy()) >= 0)
        assert table["time"][0].as_py() >= SPAN.start


def test_the_last_keys_burst_and_no_others(spread: pa.Table) -> None:
    of_bursts = spread["burst_key"].is_valid().to_numpy()
    keys = spread["key"].to_numpy()
    assert set(keys[of_bursts]) == set(range(KEYS - BURSTING, KEYS))
    assert set(keys[~of_bursts]) == set(range(KEYS - BURSTING))


def test_each_burst_brings_one_update_of_each_key_within_the_spread(spread: pa.Table) -> None:
    blocks = BurstArrivals(SHARES, BURSTING, SPREAD).blocks(SPAN, seed=1, cut=CUT)
    begun = sorted({each["begun"] for bursts in blocks["bursts"].to_pylist() for each in bursts})
    last = spread["time"][-1].as_py()
    complete = np.array([time for time in begun if time + SPREAD < last])
    assert len(complete) > 400
    for key in range(KEYS - BURSTING, KEYS):
        times = times_of(spread, key)
        assert len(times) >= len(complete)
        # Bursts overlap, so the burst of an update is not known; but if each has
        # one within the spread, the n-th in order of time is, too.
        late = times[: len(complete)] - complete
        assert late.min() >= 0
        assert late.max() < SPREAD


def test_without_a_spread_the_updates_of_a_burst_are_at_one_time_in_random_order(
    at_once: pa.Table,
) -> None:
    keys = at_once["key"].to_numpy()[at_once["burst_key"].is_valid().to_numpy()]
    together = keys[: len(keys) // BURSTING * BURSTING].reshape(-1, BURSTING)
    assert np.all(np.sort(together, axis=1) == np.arange(KEYS - BURSTING, KEYS))
    places = np.bincount(together[:, 0] - (KEYS - BURSTING), minlength=BURSTING)
    assert chi_square_p(places, np.full(BURSTING, len(together) / BURSTING)) > 0.001
    steady = at_once.filter(at_once["burst_key"].is_null())["row"].to_numpy()
    assert np.diff(steady).max() > BURSTING
    times = times_of(at_once, KEYS - 1)
    assert np.array_equal(times, times_of(at_once, KEYS - 2)[: len(times)])


def test_bursts_begin_at_memoryless_times_as_often_as_their_keys_update(at_once: pa.Table) -> None:
    times = times_of(at_once, KEYS - 1)
    interval = BurstArrivals(SHARES, BURSTING).interval(SPAN.rate)
    gaps = np.diff(times, prepend=SPAN.start)
    counts, _ = np.histogram(np.exp(-gaps / interval), bins=10, range=(0, 1))
    assert chi_square_p(counts, np.full(10, len(gaps) / 10)) > 0.001


def test_within_a_burst_the_times_are_even(spark: SparkSession) -> None:
    arrivals = BurstArrivals(ZipfShares(KEYS, 0.9), 2, 0.05)
    table = arrivals.frame(spark, SPAN, seed=1, cut=CUT).toArrow()
    blocks = arrivals.blocks(SPAN, seed=1, cut=CUT)
    begun = np.array(
        sorted({each["begun"] for bursts in blocks["bursts"].to_pylist() for each in bursts})
    )
    times = table["time"].to_numpy()[table["burst_key"].is_valid().to_numpy()]
    since = times - begun[np.searchsorted(begun, times, side="right") - 1]
    counts, _ = np.histogram(since[since < 0.05], bins=5, range=(0, 0.05))
    assert counts.sum() > 300
    assert chi_square_p(counts, np.full(5, counts.sum() / 5)) > 0.001


def test_the_others_arrive_as_if_there_were_no_bursts(spread: pa.Table) -> None:
    steady = spread.filter(spread["burst_key"].is_null())
    counts = np.bincount(steady["key"].to_numpy())
    shares = SHARES.shares()[: KEYS - BURSTING]
    assert chi_square_p(counts, shares / shares.sum() * len(steady)) > 0.001
    times = steady["time"].to_numpy()
    for seconds in (0.2, 1.7, 9.0):
        edges = np.arange(SPAN.start, times[-1], seconds)
        assert dispersion_p(np.histogram(times, edges)[0]) > 0.001


def test_all_rates_together_are_those_of_the_simulator(spread: pa.Table) -> None:
    theirs = sources.Bursts(workload.zipf(KEYS, 0.9), bursting=BURSTING)
    seconds = spread["time"][-1].as_py() - SPAN.start
    rates = np.bincount(spread["key"].to_numpy()) / seconds / SPAN.rate
    assert rates[:5] == pytest.approx(theirs.rates[:5], rel=0.1)
    assert rates[-BURSTING:] == pytest.approx(theirs.rates[-BURSTING:], rel=0.15)
    assert BurstArrivals(SHARES, BURSTING).interval(1.0) == pytest.approx(theirs.interval)


@pytest.mark.parametrize("partitions", [1, 7])
def test_partitions_change_nothing(spark: SparkSession, spread: pa.Table, partitions: int) -> None:
    arrivals = BurstArrivals(SHARES, BURSTING, SPREAD)
    assert drawn(spark, arrivals, cut=replace(CUT, partitions=partitions)).equals(spread)
    frame = arrivals.draw(arrivals.frame(spark, SPAN, seed=1, cut=CUT), seed=1)
    assert not moves_rows(frame)


@pytest.mark.parametrize("spread_seconds", [0.0, 0.5])
def test_all_keys_may_burst(spark: SparkSession, spread_seconds: float) -> None:
    arrivals = BurstArrivals(ZipfShares(10, 1.0), 10, spread_seconds)
    span = Span(updates=55, rate=10.0)
    table = arrivals.draw(arrivals.frame(spark, span, seed=3, cut=CUT), seed=3).toArrow()
    assert table["row"].to_pylist() == list(range(55))
    assert set(np.bincount(table["key"].to_numpy())) <= {4, 5, 6}
    assert arrivals.interval(10.0) == pytest.approx(1.0)


@pytest.mark.parametrize("bursting", [0, -1, 51])
def test_a_burst_is_of_some_of_the_keys(bursting: int) -> None:
    with pytest.raises(BadOptionError, match=f"--bursting {bursting}: expected .* from 1 to 50"):
        BurstArrivals(SHARES, bursting)


def test_a_burst_is_not_larger_than_a_task_can_sort() -> None:
    with pytest.raises(BadOptionError, match=r"--bursting 100001: .* from 1 to 100,000"):
        BurstArrivals(ZipfShares(1_000_000, 0.5), 100_001)


@pytest.mark.parametrize("seconds", [-0.1, 1.5, float("nan")])
def test_a_burst_takes_no_longer_than_it_is_to_the_next(seconds: float) -> None:
    interval = BurstArrivals(SHARES, BURSTING).interval(SPAN.rate)
    message = re.escape(f"--spread {seconds:g}: expected seconds from 0 to {interval:g}")
    with pytest.raises(BadOptionError, match=message):
        BurstArrivals(SHARES, BURSTING, seconds).check(SPAN)


def test_there_are_not_more_bursts_than_the_driver_can_hold() -> None:
    with pytest.raises(BadOptionError, match="--bursting 1: expected fewer --updates"):
        BurstArrivals(ZipfShares(1, 0.0), 1).check(Span(updates=5_000_001, rate=1.0))
