"""How long a server needs for an update: a fixed time, or a random one with a given mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Final

import numpy as np

from ..errors import OptionError
from ..workloads.workload import rounded_up

_DRAWN_AT_ONCE: Final = 1024

Costs = Iterator[float]
"""Endless costs, one for each update that is served."""


def fixed(mean: float, _: np.random.Generator) -> Costs:
    """Return the same cost every time, rounded up so that it adds up exactly."""
    return repeat(rounded_up(mean))


def exponential(mean: float, random: np.random.Generator) -> Costs:
    """Draw costs that are memoryless."""
    while True:
        yield from random.exponential(mean, _DRAWN_AT_ONCE).tolist()


def uniform(mean: float, random: np.random.Generator) -> Costs:
    """Draw costs from 0 to twice the mean."""
    while True:
        yield from random.uniform(0.0, 2.0 * mean, _DRAWN_AT_ONCE).tolist()


COST_DISTRIBUTIONS: Final[dict[str, Callable[[float, np.random.Generator], Costs]]] = {
    "fixed": fixed,
    "exponential": exponential,
    "uniform": uniform,
}
"""The distributions by name."""


def check_cost(cost: float, option: str = "cost") -> None:
    """Raise OptionError if a mean cost is not a finite number above 0."""
    if not (np.isfinite(cost) and cost > 0):
        raise OptionError(option, cost, "a finite number above 0")
