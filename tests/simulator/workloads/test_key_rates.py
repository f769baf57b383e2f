"""The shares of keys."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.workloads.key_rates import KeyShares, two_classes, uniform, zipf


@pytest.mark.parametrize(
    "shares",
    [
        *(uniform(1), uniform(1_000)),
        *(zipf(1, 1.0), zipf(1_000, 0.0), zipf(1_000, 1.2), zipf(10, 10.0)),
        *(two_classes(10, 3, 100.0), two_classes(10, 0, 5.0), two_classes(10, 10, 5.0)),
        *(two_classes(10, 5, 1e9), two_classes(10, 5, 1e-9), two_classes(1, 1, 3.0)),
    ],
)
def test_shares_are_the_whole_and_the_busiest_key_is_first(shares: KeyShares) -> None:
    assert shares.shares.sum() == pytest.approx(1.0)
    assert (shares.shares > 0).all()
    assert shares.shares.argmax() == 0 or shares.shares[-1] > shares.shares[0]
    assert shares.keys == len(shares.shares)


def test_uniform_shares_are_equal() -> None:
    assert set(uniform(7).shares) == {1 / 7}


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.9, 1.2])
def test_zipf_shares_fall_with_the_rank_to_the_power_of_theta(theta: float) -> None:
    shares = zipf(1_000, theta).shares
    ranks = np.arange(1, 1_001)
    assert (shares[0] / shares) == pytest.approx(ranks**theta)


def test_zipf_without_skew_is_uniform() -> None:
    assert (zipf(50, 0.0).shares == uniform(50).shares).all()


def test_the_last_keys_of_two_classes_update_ratio_times_less() -> None:
    shares = two_classes(10, slow=8, ratio=100.0).shares
    assert (shares[:2] == shares[0]).all()
    assert (shares[2:] == shares[9]).all()
    assert shares[0] / shares[9] == pytest.approx(100.0)


@pytest.mark.parametrize("slow", [0, 10])
def test_one_class_alone_is_uniform(slow: int) -> None:
    assert two_classes(10, slow, 30.0).shares == pytest.approx(uniform(10).shares)


NOT_COUNTS = [0, -1, 10_000_001, math.nan, math.inf, 2.5]


@pytest.mark.parametrize("keys", NOT_COUNTS)
@pytest.mark.parametrize(
    "make", [uniform, lambda keys: zipf(keys, 1.0), lambda keys: two_classes(keys, 0, 2.0)]
)
def test_the_number_of_keys_must_make_sense(make: Callable[[float], object], keys: float) -> None:
    with pytest.raises(OptionError, match=r"keys .*: expected a whole number from 1 to 10,000,000"):
        make(keys)


@pytest.mark.parametrize("theta", [-1.0, -1e-9, 10.1, math.nan, math.inf, -math.inf])
def test_theta_must_make_sense(theta: float) -> None:
    with pytest.raises(OptionError, match=r"theta .*: expected a number from 0 to 10"):
        zipf(10, theta)


@pytest.mark.parametrize("slow", [-1, 11])
def test_slow_keys_must_be_among_the_keys(slow: int) -> None:
    with pytest.raises(OptionError, match=f"slow keys {slow}: expected a number from 0 to 10"):
        two_classes(10, slow, 2.0)


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf, 1e300, 1e-320])
def test_the_ratio_must_make_sense(ratio: float) -> None:
    with pytest.raises(OptionError, match=r"ratio .*: expected a number above 0, at most"):
        two_classes(10, 5, ratio)


@pytest.mark.parametrize("shares", [[], [0.5, 0.4], [math.nan, 1.0]])
def test_shares_that_are_not_the_whole_are_our_mistake(shares: list[float]) -> None:
    with pytest.raises(AssertionError):
        KeyShares(np.array(shares))
