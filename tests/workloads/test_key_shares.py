"""The shares of keys: what the laws say, and which parameters they take."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from upstream import ParameterError
from upstream.workloads.key_shares import Floats, even_shares, two_class_shares, zipf_shares


@pytest.mark.parametrize(
    "shares",
    [
        *(even_shares(1), even_shares(1_000)),
        *(
            zipf_shares(1, 1.0),
            zipf_shares(1_000, 0.0),
            zipf_shares(1_000, 1.2),
            zipf_shares(10, 10.0),
        ),
        *(
            two_class_shares(10, 3, 100.0),
            two_class_shares(10, 0, 5.0),
            two_class_shares(10, 10, 5.0),
        ),
        *(two_class_shares(10, 5, 1e9), two_class_shares(10, 5, 1e-9), two_class_shares(1, 1, 3.0)),
    ],
)
def test_shares_are_the_whole_and_the_busiest_key_is_first(shares: Floats) -> None:
    assert shares.sum() == pytest.approx(1.0)
    assert (shares > 0).all()
    assert shares.argmax() == 0 or shares[-1] > shares[0]


def test_even_shares_are_equal() -> None:
    assert set(even_shares(7)) == {1 / 7}


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.9, 1.2])
def test_zipf_shares_fall_with_the_rank_to_the_power_of_theta(theta: float) -> None:
    shares = zipf_shares(1_000, theta)
    ranks = np.arange(1, 1_001)
    assert (shares[0] / shares) == pytest.approx(ranks**theta)


def test_zipf_without_skew_is_even_shares() -> None:
    assert (zipf_shares(50, 0.0) == even_shares(50)).all()


def test_the_last_keys_of_two_classes_update_ratio_times_less() -> None:
    shares = two_class_shares(10, slow_keys=8, ratio=100.0)
    assert (shares[:2] == shares[0]).all()
    assert (shares[2:] == shares[9]).all()
    assert shares[0] / shares[9] == pytest.approx(100.0)


@pytest.mark.parametrize("slow", [0, 10])
def test_one_class_alone_is_even_shares(slow: int) -> None:
    assert two_class_shares(10, slow, 30.0) == pytest.approx(even_shares(10))


NOT_COUNTS = [0, -1, 10_000_001, math.nan, math.inf, 2.5]


@pytest.mark.parametrize("keys", NOT_COUNTS)
@pytest.mark.parametrize(
    "make",
    [even_shares, lambda keys: zipf_shares(keys, 1.0), lambda keys: two_class_shares(keys, 0, 2.0)],
)
def test_the_number_of_keys_must_make_sense(make: Callable[[float], object], keys: float) -> None:
    with pytest.raises(ParameterError, match="keys must be a whole number from 1 to 10,000,000"):
        make(keys)


@pytest.mark.parametrize("theta", [-1.0, -1e-9, 10.1, math.nan, math.inf, -math.inf])
def test_theta_must_make_sense(theta: float) -> None:
    with pytest.raises(ParameterError, match="theta must be a number from 0, which is even, to 10"):
        zipf_shares(10, theta)


@pytest.mark.parametrize("slow", [-1, 11])
def test_slow_keys_must_be_among_the_keys(slow: int) -> None:
    with pytest.raises(ParameterError, match=f"slow_keys must be .* 0 to 10, .*not {slow}"):
        two_class_shares(10, slow, 2.0)


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf, 1e300, 1e-320])
def test_the_ratio_must_make_sense(ratio: float) -> None:
    with pytest.raises(ParameterError, match="ratio must be a number above 0, at most 1,000,"):
        two_class_shares(10, 5, ratio)
