"""The phi functions, against arithmetic of 80 digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from upstream.staleness.phi import phi


def phi_with_many_digits(order: int, x: float) -> float:
    with localcontext() as context:
        context.prec = 80
        exact = Decimal(x)
        value = (1 - (-exact).exp()) / exact
        for m in range(1, order):
            value = (1 / Decimal(math.factorial(m)) - value) / exact
        return float(value)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("x", [1e-12, 1e-6, 0.01, 0.5, 0.999, 1.0, 1.001, 3.0, 40.0, 1e5, 1e12])
def test_phi_agrees_with_80_digits(order: int, x: float) -> None:
    computed = float(phi(order, np.array(x)))
    assert computed == pytest.approx(phi_with_many_digits(order, x), rel=4e-15, abs=0)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_phi_at_zero_is_one_over_the_factorial(order: int) -> None:
    assert float(phi(order, np.array(0.0))) == pytest.approx(
        1 / math.factorial(order), rel=1e-15, abs=0
    )


def test_phi_is_vectorised_over_both_branches() -> None:
    x = np.array([0.0, 0.3, 2.0, 1e30])
    assert phi(2, x).tolist() == [float(phi(2, np.array(one))) for one in x]
