"""Compare measured staleness with its lower bound, once it has been measured for long enough.

Mean staleness begins at 0 and needs a while to reach its final value. Until then it is below the
lower bound for any scheduler, so the ratio means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from .key_staleness import KeyStaleness

WARM_UP_BOUNDS: Final = 10.0
"""Staleness is compared after it was measured for this many times its lower bound.

A mean that rises to the bound with slope one is by then at most a tenth too low.
"""


class AgainstBound(NamedTuple):
    """Measured staleness as a multiple of its lower bound."""

    times: float | None
    """None while warming up, and if the bound is 0 or unknown."""
    is_warming_up: bool


def against_bound(staleness: float, bound: float | None, *, observed: float) -> AgainstBound:
    """Compare mean staleness with its lower bound, after `observed` seconds of measuring it.

    The bound is an expected value under memoryless arrivals, so a single run may end a little
    below it.
    >>> against_bound(2.2, 2.0, observed=60.0)
    AgainstBound(times=1.1, is_warming_up=False)
    >>> against_bound(8.75, 25.6, observed=20.0)
    AgainstBound(times=None, is_warming_up=True)
    """
    if not bound:
        return AgainstBound(None, False)
    if observed < WARM_UP_BOUNDS * bound:
        return AgainstBound(None, True)
    return AgainstBound(staleness / bound, False)


def observed_seconds(rows: Iterable[KeyStaleness]) -> float:
    """Return how long staleness was measured: the mean over keys, or 0 without keys."""
    lifetimes = [row.known_seconds for row in rows]
    return sum(lifetimes) / len(lifetimes) if lifetimes else 0.0
