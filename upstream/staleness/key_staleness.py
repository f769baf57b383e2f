"""The staleness of each key of a queue, for all keys in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..keys import Place
from ..statistics import UpdateRates
from ..updates import Key
from .sums import StalenessSums

_new_tuple = tuple.__new__


class KeyStaleness(NamedTuple):
    """The staleness of one key, in seconds, and its update rate, in updates per second.

    >>> KeyStaleness("IBM", None, 0.5, 2.0, 0.0, 1.5).stale_seconds
    1.5
    """

    key: Key
    rate: float | None
    """None while it is unknown."""
    queue_staleness: float
    """Averaged over the time since the key's first arrival."""
    application_staleness: float
    """Averaged over the time since the key's first arrival."""
    waiting_seconds: float
    """How long the key has waited so far; 0 if it does not wait."""
    stale_seconds: float
    """How long the application has been stale so far; 0 if it is not stale."""
    known_seconds: float = 0.0
    """The time since the key's first arrival."""


def key_staleness(
    sums: StalenessSums, rates: UpdateRates, places: Iterable[Place], now: float
) -> list[KeyStaleness]:
    """Return a row for each of `places` whose key has arrived. O(places).

    This is `StalenessSums.queue_mean` and `application_mean`, written out because there may be a
    million places.
    """
    queue_areas, application_areas = sums.queue, sums.application
    counted_since, rate_of = sums.counted_since, rates.rate
    rows: list[KeyStaleness] = []
    for place in places:
        cell = place.cell
        index = cell.index
        queue_area, application_area = queue_areas[index], application_areas[index]
        waiting = stale = 0.0
        if place.waiting_since is not None:
            waiting = now - place.waiting_since
            queue_area += 0.5 * waiting * waiting
        if place.stale_since is not None:
            stale = now - place.stale_since
            application_area += 0.5 * stale * stale
        lifetime = now - counted_since[index]
        queue_mean = application_mean = 0.0
        if lifetime > 0:
            queue_mean = queue_area / lifetime if queue_area > 0 else 0.0
            application_mean = application_area / lifetime if application_area > 0 else 0.0
        row = (cell.key, rate_of(cell), queue_mean, application_mean, waiting, stale, lifetime)
        # Not KeyStaleness(...): the generated constructor takes twice as long.
        rows.append(_new_tuple(KeyStaleness, row))
    return rows
