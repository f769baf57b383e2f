"""The keys of one queue: the place that each has there, and how stale it has been.

A place stands in a column at the number that its key has in the stream, so finding it costs no
second hash table. A key counts from its first arrival at the queue on; a forgotten one counts once
more, with its averages as they were.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

from ..errors import ClosedError, ParameterError, UnknownKeyError
from ..keys import KeyCell, Place
from ..staleness import KeyStaleness, StalenessSums, key_staleness, staleness_lower_bound
from ..statistics import ProcessingCost, UpdateRates, check_count
from ..updates import Key
from .place_column import PlaceColumn, Rings

Mean = Callable[[StalenessSums, Place, float], float]

MEANS: dict[str, Mean] = {
    "queue": StalenessSums.queue_mean,
    "application": StalenessSums.application_mean,
}
"""How the average of either kind of staleness is told, by the name of the kind."""


class QueuePlaces(ABC):
    """The part of a queue that knows its keys; `StreamQueue` and `WindowQueue` are the whole."""

    __slots__ = ("__weakref__", "_column", "_cost", "_forgotten", "_places", "_rings", "_sums")

    def __init__(self, cost: ProcessingCost) -> None:
        self._column = PlaceColumn()
        self._places = self._column.places
        """The same list for as long as the queue lives."""
        self._rings = Rings()
        self._rings.add(self._places)
        self._sums = StalenessSums()
        self._cost = cost
        self._forgotten = 0

    def queue_staleness(self, key: Key | None = None) -> float:
        """Return the queue staleness in seconds so far: averaged over time, then over keys.

        That of one key if `key` is given. O(keys).
        """
        return self._staleness("queue", key)

    def application_staleness(self, key: Key | None = None) -> float:
        """Return the application staleness, averaged as `queue_staleness` is. O(keys)."""
        return self._staleness("application", key)

    def staleness_by_key(self, of: str = "queue") -> dict[Key, float]:
        """Return each key's `queue` or `application` staleness, averaged over time. O(keys)."""
        mean = MEANS.get(of)
        if mean is None:
            raise ParameterError("of", of, "'queue' or 'application'")
        now = self._catch_up()
        return {place.cell.key: mean(self._sums, place, now) for place in self._counted_places()}

    def key_staleness(self) -> list[KeyStaleness]:
        """Return of each key how stale it is and was, and its update rate. O(keys)."""
        now = self._catch_up()
        return key_staleness(self._sums, self._rates(), self._counted_places(), now)

    def key_staleness_in_parts(self, rows: int) -> Iterator[list[KeyStaleness]]:
        """Yield the rows of `key_staleness`, about so many at a time, each part as it is then.

        Between two parts the queue may be used; keys that come meanwhile may be in it or not.
        """
        check_count("rows", rows, least=1)
        start = 0
        while True:
            now = self._catch_up()  # raises if the queue was closed meanwhile
            if start >= len(self._places):
                return
            places = self._places[start : start + rows]
            counted = (place for place in places if place and place.delivered_version >= 0)
            yield key_staleness(self._sums, self._rates(), counted, now)
            start += rows

    def mean_staleness(self, rows: Iterable[KeyStaleness]) -> tuple[float, float]:
        """Return queue and application staleness over all keys, `rows` being those not forgotten.

        It is what `queue_staleness` and `application_staleness` return, without a further pass.
        """
        keys = self._sums.retired
        queue = self._sums.retired_means["queue"]
        application = self._sums.retired_means["application"]
        for row in rows:
            keys += 1
            queue += row.queue_staleness
            application += row.application_staleness
        return (queue / keys, application / keys) if keys else (0.0, 0.0)

    def lower_bound(self, of: str = "queue") -> float | None:
        """Return the least mean staleness any scheduler could reach, from rates as they are known.

        It holds for memoryless arrivals. None while no key's rate, or no cost, is known.
        """
        self._catch_up()
        cost = self._cost.seconds()
        all_rates = self._rates()
        rates = [all_rates.rate(place.cell) or 0.0 for place in self._counted_places()]
        if cost is None or not any(rates):
            return None
        return staleness_lower_bound(rates, cost, of=of)

    @property
    def key_count(self) -> int:
        """How many keys have arrived here and were not forgotten, as far as was looked at. O(1)."""
        return self._sums.counted

    @property
    def processing_cost(self) -> float | None:
        """The seconds that the consumer needs for one update, None while not known."""
        return self._cost.seconds()

    # What the kinds of queues know themselves.

    @property
    @abstractmethod
    def is_closed(self) -> bool:
        """Whether the queue is closed."""

    @abstractmethod
    def _catch_up(self) -> float:
        """Take in what arrived, do what fell due, and return the time."""

    @abstractmethod
    def _rates(self) -> UpdateRates:
        """Return what tells the rates of the keys."""

    @abstractmethod
    def _find(self, key: Key) -> Place | None:
        """Return the place of a key, None if it is not known."""

    # Places.

    def place_of(self, cell: KeyCell) -> Place | None:
        """Return the key's place in this queue, if it has one."""
        places = self._places
        return places[cell.index] if cell.index < len(places) else None

    def counts(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and was not forgotten since."""
        place = self.place_of(cell)
        return place is not None and place.delivered_version >= 0

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process here."""
        place = self.place_of(cell)
        return place is not None and (place.in_process > 0 or place.waiting_since is not None)

    def _reserve(self, rows: int) -> None:
        """Have room for so many keys, and none to spare: most are known when a queue begins."""
        self._column.reserve(rows)
        self._sums.reserve(rows)

    def _new_place(self, cell: KeyCell, place: Place) -> None:
        self._column.put(cell, place)

    def _begin(self, place: Place, version: int, now: float) -> None:
        """Count a key from its first arrival on."""
        self._sums.begin(place, version, now)

    def _retire(self, place: Place, now: float) -> None:
        """Count a key no more, except for its averages."""
        if place.delivered_version >= 0:
            self._sums.retire(place, now)
            self._forgotten += 1

    def _retire_all(self, now: float) -> None:
        """Close the sums of all keys, since the queue is closed, and let go of them."""
        for place in self._counted_places():
            self._sums.retire(place, now)
        for known in self._places:
            if known is not None:
                known.close()
        self._places.clear()
        self._sums.close()

    def _counted_places(self) -> Iterator[Place]:
        return (
            place for place in self._places if place is not None and place.delivered_version >= 0
        )

    def _staleness(self, of: str, key: Key | None) -> float:
        if self.is_closed:
            if key is not None:
                raise ClosedError("queue")
            return self._mean_over_keys(of, now=0.0)  # of retired keys only, whatever the time
        now = self._catch_up()
        if key is None:
            return self._mean_over_keys(of, now)
        place = self._find(key)
        if place is None or place.delivered_version < 0:
            raise UnknownKeyError(key)
        return MEANS[of](self._sums, place, now)

    def _mean_over_keys(self, of: str, now: float) -> float:
        """Return staleness averaged over time and over keys, forgotten ones among them. O(keys)."""
        mean = MEANS[of]
        total = self._sums.retired_means[of]
        count = self._sums.retired
        for place in self._counted_places():
            total += mean(self._sums, place, now)
            count += 1
        return total / count if count else 0.0

    def _check(self) -> None:
        assert self._sums.counted == sum(1 for _ in self._counted_places())
