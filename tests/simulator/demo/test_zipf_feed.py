"""The feed: Zipf's shares, memoryless arrivals, the same every time."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from simulator.demo.zipf_feed import Arrival, ZipfFeed


def first(count: int, *, keys: int = 5, theta: float = 1.0, seed: int = 7) -> list[Arrival]:
    feed = ZipfFeed(keys=keys, theta=theta, updates_per_second=100.0, seed=seed)
    return list(islice(feed, count))


def test_a_feed_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert first(10_000) == first(10_000)
    assert first(10, seed=7) != first(10, seed=8)


def test_arrivals_are_in_order_and_as_fast_as_asked_for() -> None:
    arrivals = first(20_000)
    dues = [arrival.due_seconds for arrival in arrivals]
    assert dues == sorted(dues)
    assert dues[-1] == pytest.approx(200.0, rel=0.03)


def test_the_time_to_the_next_arrival_is_exponential() -> None:
    gaps = np.diff([arrival.due_seconds for arrival in first(20_000)])
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)
    assert (gaps > 0.01).mean() == pytest.approx(np.exp(-1.0), abs=0.02)


def test_keys_arrive_in_proportion_to_their_rates() -> None:
    counts = Counter(arrival.key for arrival in first(50_000))
    feed = ZipfFeed(keys=5, theta=1.0, updates_per_second=100.0, seed=7)
    for key, rate in feed.rates.items():
        assert counts[key] / 500 == pytest.approx(rate, rel=0.05)


def test_values_number_the_updates() -> None:
    assert [arrival.value for arrival in first(5_000)] == list(range(5_000))


def test_shares_fall_as_a_power_of_the_rank_and_add_up_to_one() -> None:
    feed = ZipfFeed(keys=100, theta=1.2, updates_per_second=1.0, seed=0)
    shares = list(feed.rates.values())
    assert sum(shares) == pytest.approx(1.0)
    assert shares[0] / shares[9] == pytest.approx(10**1.2)


def test_a_feed_of_one_key_is_that_key() -> None:
    assert {arrival.key for arrival in first(100, keys=1)} == {"key-1"}


def test_key_names_sort_by_rank() -> None:
    feed = ZipfFeed(keys=100, theta=1.0, updates_per_second=1.0, seed=0)
    assert list(feed.keys) == sorted(feed.keys)
