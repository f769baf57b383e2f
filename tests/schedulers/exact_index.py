"""What the staleness index of a key is, worked out as DESIGN.md (4.5) has it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from upstream.schedulers import StalenessIndexScheduler
from upstream.statistics import GivenRates
from upstream.updates import Key

from .feed import Feed, Line

# A key's rate is at most this factor away from the middle of its class, a power of two wide ...
RATE_ERROR = 2 ** (1 / 2)
# ... and its weight by cost at most this one, with four classes in a power of two.
PRIORITY_ERROR = 2 ** (1 / 8)


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is known of one key."""

    rate: float | None = None
    weight: float = 1.0
    cost: float = 1.0


def exact_index(of: Parameters, *, wait: float, horizon: float) -> float:
    quiet = horizon if not of.rate else (1 - math.exp(-of.rate * horizon)) / of.rate
    return of.weight * (wait**2 / 2 + wait * quiet) / (of.cost or 1.0)


def bounds(of: Parameters, *, wait: float, horizon: float) -> tuple[float, float]:
    """Return what the index may be at least and at most anywhere in the key's class."""
    rate = of.rate or None
    slow, fast = (rate and rate / RATE_ERROR), (rate and rate * RATE_ERROR)
    low = exact_index(Parameters(fast, of.weight, of.cost), wait=wait, horizon=horizon)
    high = exact_index(Parameters(slow, of.weight, of.cost), wait=wait, horizon=horizon)
    return low / PRIORITY_ERROR * (1 - 1e-9), high * PRIORITY_ERROR * (1 + 1e-9)


def make_line(
    parameters: dict[str, Parameters], *, cost: float | None, longest_wait: float | None = None
) -> Line:
    rates: dict[Key, float] = {
        key: one.rate for key, one in parameters.items() if one.rate is not None
    }
    scheduler = StalenessIndexScheduler(
        longest_wait=longest_wait,
        weight={key: one.weight for key, one in parameters.items()},
        cost={key: one.cost for key, one in parameters.items()},
    )
    return Feed(GivenRates(rates)).attach(scheduler, cost=cost)
