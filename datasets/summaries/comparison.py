"""Runs side by side: means over seeds with their intervals, and ratios paired by seed.

Runs with the same setting are compared. The mean over seeds has an interval from Student's t
distribution. Ratios come from pairs: runs with the same seed had the same arrivals, so the ratio of
their staleness varies much less than either value. Its interval is that of the mean logarithm. With
one seed there are values and ratios but no intervals.

Runs without a seed are not independent: two lives of a service's queue are not two draws. So they
have no interval, and a ratio only if there is one run of each name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Final

from ..errors import BadOptionError
from .description import STALENESS

CONFIDENCE: Final = 0.95
PREFERRED: Final = "in-place"
"""What the others are compared with, unless another is asked for, or it is not there."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run contributes to a comparison."""

    setting: str
    name: str
    seed: int | None
    values: dict[str, float | None] = field(default_factory=dict)
    """Its mean staleness, by kind."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and where the true one is with 95 % confidence; None without a second run."""

    mean: float
    low: float | None
    high: float | None
    runs: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """One policy, or queue, in one setting, and how it does against another one."""

    setting: str
    name: str
    of: str
    """The kind of staleness."""
    value: Interval
    against: str
    ratio: Interval | None
    """Of its staleness to that of `against`, over seeds that both have; None without such seeds."""
    is_seeded: bool
    """Whether each run has a seed; if not, there is no interval."""


def compare(samples: Sequence[Sample], *, against: str | None = None) -> list[Comparison]:
    """Return a row for each setting, kind of staleness and name, in this order."""
    if against is not None and against not in {sample.name for sample in samples}:
        names = ", ".join(sorted({sample.name for sample in samples}))
        raise BadOptionError("--against", against, f"the name of a run: {names}")
    rows: list[Comparison] = []
    for setting in dict.fromkeys(sample.setting for sample in samples):
        here = [sample for sample in samples if sample.setting == setting]
        present = sorted({sample.name for sample in here})
        wanted = PREFERRED if against is None else against
        other = wanted if wanted in present else present[0]
        for of in STALENESS:
            found = (_row(here, setting, of, name, other) for name in present)
            rows += [row for row in found if row is not None]
    return rows


def _row(
    samples: Sequence[Sample], setting: str, of: str, name: str, against: str
) -> Comparison | None:
    mine = [sample for sample in samples if sample.name == name]
    values = [value for sample in mine if (value := sample.values[of]) is not None]
    if not values:
        return None
    is_seeded = all(sample.seed is not None for sample in mine)
    mean = interval(values) if is_seeded else Interval(fmean(values), None, None, len(values))
    ratio = None if name == against else _ratio(samples, of, name, against)
    return Comparison(setting, name, of, mean, against, ratio, is_seeded)


def _ratio(samples: Sequence[Sample], of: str, name: str, against: str) -> Interval | None:
    """Return the ratio over the runs with the same seeds, or of the only runs without any."""
    one, other = (_by_seed(samples, of, each) for each in (name, against))
    logarithms = [math.log(one[seed] / other[seed]) for seed in one if seed in other]
    if not logarithms:
        return None
    found = interval(logarithms)
    low, high = (None if bound is None else math.exp(bound) for bound in (found.low, found.high))
    return Interval(math.exp(found.mean), low, high, found.runs)


def _by_seed(samples: Sequence[Sample], of: str, name: str) -> dict[int | None, float]:
    """Return what can be divided, by seed; nothing where several runs have the same one.

    A run without a seed counts if it is the only one.
    """
    mine = [sample for sample in samples if sample.name == name]
    seeds = [sample.seed for sample in mine]
    return {
        sample.seed: value
        for sample in mine
        if (value := sample.values[of])
        and seeds.count(sample.seed) == 1
        and (sample.seed is not None or len(mine) == 1)
    }


def interval(values: Sequence[float]) -> Interval:
    """Return the mean of values with its interval.

    >>> interval([1.0, 2.0, 3.0]).high.__round__(3)
    4.484
    """
    mean, runs = fmean(values), len(values)
    if runs < 2:
        return Interval(mean, None, None, runs)
    half = quantile(CONFIDENCE, runs - 1) * stdev(values) / math.sqrt(runs)
    return Interval(mean, mean - half, mean + half, runs)


def central_probability(t: float, degrees: int) -> float:
    """Return the probability that such a variable is between -t and t.

    >>> round(central_probability(12.7062, 1), 6)
    0.95
    """
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    if degrees % 2 == 0:
        return sine * _series(cosine * cosine, 1, degrees // 2)
    rest = sine * cosine * _series(cosine * cosine, 2, degrees // 2) if degrees > 1 else 0.0
    return 2.0 / math.pi * (angle + rest)


def quantile(probability: float, degrees: int) -> float:
    """Return the t for which that is the probability of being between -t and t.

    >>> round(quantile(0.95, 4), 4)
    2.7764
    """
    assert 0 <= probability < 1
    assert degrees >= 1
    low, high = 0.0, 1.0
    while central_probability(high, degrees) < probability:
        low, high = high, 2.0 * high
    while (middle := (low + high) / 2.0) not in (low, high):
        if central_probability(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return high


def _series(square: float, first: int, terms: int) -> float:
    """Return 1 + f/(f+1) s + f (f+2)/((f+1)(f+3)) s^2 + …, that many terms."""
    term = total = 1.0
    for place in range(1, terms):
        step = first + 2 * place
        term *= square * (step - 2) / (step - 1)
        total += term
    return total
