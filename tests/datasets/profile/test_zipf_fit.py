"""The fit recovers what counts were drawn with, however many there are."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.profile.zipf_fit import FEWEST_UPDATES, FitSums, fit_zipf


def sums_of(counts: np.ndarray) -> FitSums:
    counts = np.sort(counts)[::-1]
    counts = counts[counts >= FEWEST_UPDATES]
    logs = float((counts * np.log(np.arange(1, len(counts) + 1))).sum())
    return FitSums(len(counts), int(counts.sum()), logs)


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.9, 1.0, 1.5])
def test_exact_counts_give_theta_exactly(theta: float) -> None:
    fit = fit_zipf(sums_of(np.arange(1.0, 1_001) ** -theta * 1e9))
    assert fit is not None
    assert fit.theta == pytest.approx(theta, abs=1e-6)
    assert fit.keys == 1_000


@pytest.mark.parametrize("theta", [0.5, 0.9, 1.2])
@pytest.mark.parametrize(("keys", "updates"), [(1_000, 10_000), (3_000, 100_000)])
def test_drawn_counts_give_theta_though_most_keys_have_few(
    theta: float, keys: int, updates: int
) -> None:
    shares = np.arange(1.0, keys + 1) ** -theta
    random = np.random.default_rng(1)
    fit = fit_zipf(sums_of(random.multinomial(updates, shares / shares.sum())))
    assert fit is not None
    assert fit.theta == pytest.approx(theta, abs=0.03)
    assert fit.keys < keys


def test_millions_of_keys_are_fitted_from_ranks_that_stand_for_others() -> None:
    counts = np.arange(1.0, 2_000_001) ** -0.8 * 1e8
    fit = fit_zipf(sums_of(counts))
    assert fit is not None
    assert fit.theta == pytest.approx(0.8, abs=1e-4)


def test_too_few_keys_tell_nothing() -> None:
    assert fit_zipf(sums_of(np.full(9, 100))) is None
    assert fit_zipf(FitSums(0, 0, 0.0)) is None
