"""The public methods about staleness, which queues of updates and of windows share.

Each is a function here and a method of both kinds of queues, so they need no common parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from ..errors import ClosedError, ParameterError, UnknownKeyError
from ..keys import Place
from ..staleness import KeyStaleness, staleness_lower_bound
from ..staleness import key_staleness as rows_of
from ..statistics import ProcessingCost, UpdateRates, check_count
from ..updates import Key
from .places import MEANS, QueuePlaces


class Measured(Protocol):
    """A queue that measures staleness."""

    _places: QueuePlaces
    _cost: ProcessingCost

    @property
    def is_closed(self) -> bool:
        """Whether the queue is closed."""
        ...

    def _catch_up(self) -> float:
        """Read the arrivals, do what is due, and return the time."""
        ...

    def _rates(self) -> UpdateRates:
        """Return the update rates of the keys."""
        ...

    def _find(self, key: Key) -> Place | None:
        """Return the place of a key, or None if it is unknown."""
        ...


def queue_staleness(self: Measured, key: Key | None = None) -> float:
    """Return the queue staleness in seconds, averaged over time and then over keys. O(keys).

    With `key`, return the average of this key; an unknown key raises UnknownKeyError. The queue
    staleness of a key is the time since its first waiting update was enqueued, and 0 while no
    update of it waits.
    """
    return _staleness(self, "queue", key)


def application_staleness(self: Measured, key: Key | None = None) -> float:
    """Return the application staleness in seconds, averaged like `queue_staleness`. O(keys).

    With `key`, return the average of this key; an unknown key raises UnknownKeyError. The
    application staleness of a key is the time since the arrival of the first update that is newer
    than the newest delivered one.
    """
    return _staleness(self, "application", key)


def staleness_by_key(self: Measured, of: str = "queue") -> dict[Key, float]:
    """Return the staleness of each key, averaged over time. O(keys).

    `of` is 'queue' or 'application'.
    """
    mean = MEANS.get(of)
    if mean is None:
        raise ParameterError("of", of, "'queue' or 'application'")
    now = self._catch_up()
    places = self._places
    return {place.cell.key: mean(places.sums, place, now) for place in places.counted()}


def key_staleness(self: Measured) -> list[KeyStaleness]:
    """Return the staleness and the update rate of each key. O(keys)."""
    now = self._catch_up()
    return rows_of(self._places.sums, self._rates(), self._places.counted(), now)


def key_staleness_in_parts(self: Measured, rows: int) -> Iterator[list[KeyStaleness]]:
    """Yield the rows of `key_staleness` in parts of about `rows` rows.

    Each part is computed for its own time, and the queue may be used between two parts. Keys that
    arrive or are forgotten in between may be missing.
    """
    check_count("rows", rows, least=1)
    start = 0
    while True:
        now = self._catch_up()  # raises if the queue was closed in between
        column = self._places.column
        if start >= len(column):
            return
        part = column[start : start + rows]
        counted = (place for place in part if place and place.delivered_version >= 0)
        yield rows_of(self._places.sums, self._rates(), counted, now)
        start += rows


def mean_staleness(self: Measured, rows: Iterable[KeyStaleness]) -> tuple[float, float]:
    """Return queue and application staleness over all keys, given the `rows` of the known ones.

    Forgotten keys count, too: the result is that of `queue_staleness` and `application_staleness`,
    without a further pass.
    """
    sums = self._places.sums
    keys = sums.retired
    queue = sums.retired_means["queue"]
    application = sums.retired_means["application"]
    for row in rows:
        keys += 1
        queue += row.queue_staleness
        application += row.application_staleness
    return (queue / keys, application / keys) if keys else (0.0, 0.0)


def lower_bound(self: Measured, of: str = "queue") -> float | None:
    """Return a lower bound on the mean staleness of any scheduler, for the rates known so far.

    `of` is 'queue' or 'application'. The bound assumes Poisson arrivals. It is None while no rate
    or no processing cost is known. O(keys).
    """
    self._catch_up()
    cost = self._cost.seconds()
    all_rates = self._rates()
    rates = [all_rates.rate(place.cell) or 0.0 for place in self._places.counted()]
    if cost is None or not any(rates):
        return None
    return staleness_lower_bound(rates, cost, of=of)


def _staleness(queue: Measured, of: str, key: Key | None) -> float:
    places = queue._places
    if queue.is_closed:
        if key is not None:
            raise ClosedError("queue")
        return places.mean(of, now=0.0)  # all keys are retired, so the time does not matter
    now = queue._catch_up()
    if key is None:
        return places.mean(of, now)
    place = queue._find(key)
    if place is None or place.delivered_version < 0:
        raise UnknownKeyError(key)
    return MEANS[of](places.sums, place, now)
