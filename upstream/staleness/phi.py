"""The phi functions, which describe Poisson arrivals during one processing.

Let the first arrival come after X ~ Exp(x), with the processing cost as the unit of time. The part
of the processing after the arrival has the mean ``E[(1 - X)+] = x phi_2(-x)`` and half the second
moment ``E[((1 - X)+)^2] / 2 = x phi_3(-x)``, where

    phi_1(-x) = (1 - e^-x) / x,    phi_(m+1)(-x) = (1/m! - phi_m(-x)) / x.

For small x, the recurrence loses all digits, and the power series is used instead.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SERIES_BELOW: Final = 1.0
_SERIES_TERMS: Final = 18  # 1/19! is below the precision of a float


def phi(order: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return phi of this order (1 or more) at -x, for x >= 0, to nearly full precision.

    >>> phi(1, np.array([0.0, 1.0])).round(6).tolist()
    [1.0, 0.632121]
    """
    small = x < _SERIES_BELOW
    return np.where(
        small,
        _series(order, np.where(small, x, 0.0)),
        _recurrence(order, np.where(small, _SERIES_BELOW, x)),
    )


def _series(order: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    # Horner's scheme for the sum over j of (-x)^j / (j + order)!
    total = np.zeros_like(x)
    for j in reversed(range(_SERIES_TERMS)):
        total = 1.0 / math.factorial(j + order) - x * total
    return total


def _recurrence(order: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    value = -np.expm1(-x) / x
    for m in range(1, order):
        value = (1.0 / math.factorial(m) - value) / x
    return value
