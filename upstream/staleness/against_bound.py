"""How measured staleness compares with the lower bound on it, once it has been measured for long.

Mean staleness begins at 0 and takes a while to reach what it will be. Until then it is below the
lower bound, whichever scheduler serves the queue, so their ratio means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from .key_staleness import KeyStaleness

WARM_UP_BOUNDS: Final = 10.0
"""How many times as long as the bound staleness has to be measured before the two are compared.

A mean that rises to the bound with slope one lacks at most a tenth of it by then.
"""


class AgainstBound(NamedTuple):
    """How many times its lower bound staleness is."""

    times: float | None
    """None while warming up, and where the bound is 0 or not known."""
    is_warming_up: bool


def against_bound(staleness: float, bound: float | None, *, observed: float) -> AgainstBound:
    """Compare mean staleness with its lower bound, after `observed` seconds of measuring it.

    The bound is what is expected under memoryless arrivals, so a run may end a little below it.

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
    """Return for how long staleness has been measured: the mean over keys; 0 of no keys."""
    lifetimes = [row.known_seconds for row in rows]
    return sum(lifetimes) / len(lifetimes) if lifetimes else 0.0
