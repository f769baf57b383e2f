"""Pearson's test: how likely counts are to be so far from what is expected, or farther."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

FEWEST_EXPECTED = 10.0


def chi_square_p(found: ArrayLike, expected: ArrayLike) -> float:
    """Return the p-value; outcomes that are expected seldom, at the end, are taken together."""
    counts, means = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert counts.shape == means.shape
    assert math.isclose(counts.sum(), means.sum(), rel_tol=1e-9), "not of the same total"
    often = means >= FEWEST_EXPECTED
    if not often.all():
        counts = np.append(counts[often], counts[~often].sum())
        means = np.append(means[often], means[~often].sum())
    return upper_tail(float(((counts - means) ** 2 / means).sum()), len(means) - 1)


def upper_tail(chi_square: float, degrees: int) -> float:
    """Return how likely a chi-square variable is to be larger (Wilson and Hilferty, 1931)."""
    spread = 2.0 / (9.0 * degrees)
    z = ((chi_square / degrees) ** (1 / 3) - (1.0 - spread)) / math.sqrt(spread)
    return 1.0 - NormalDist().cdf(z)


def dispersion_p(counts: ArrayLike) -> float:
    """Return how likely Poisson counts of one mean are to be so even or so uneven, or more."""
    found = np.asarray(counts, dtype=float)
    p = upper_tail(float(((found - found.mean()) ** 2).sum() / found.mean()), len(found) - 1)
    return 2.0 * min(p, 1.0 - p)
