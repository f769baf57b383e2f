"""Student's t distribution with whole degrees of freedom: what an interval of a few runs needs.

For these its distribution function is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4), so
it takes a page and no further library.
"""

from __future__ import annotations

import math


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
