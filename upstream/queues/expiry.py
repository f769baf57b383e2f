"""How updates expire that have waited for longer than their queue's time to live."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..keys import DuePlaces, Place


class Expiry:
    """Drops the update that waits at a place `age` seconds after its arrival.

    `arrival_of` tells when the update arrived, None if none waits. `expire` drops it. A newer
    update of the key puts the time off; that is noticed when the time of the older one has come.
    O(log keys) when a key starts to wait and when it falls due, and nothing in between.
    """

    __slots__ = ("_arrival_of", "_due", "_expire", "age")

    def __init__(
        self,
        age: float,
        *,
        arrival_of: Callable[[Place], float | None],
        expire: Callable[[Place, float], None],
    ) -> None:
        self.age = age
        self._arrival_of = arrival_of
        self._expire = expire
        self._due = DuePlaces()

    def note(self, place: Place, arrival: float) -> None:
        """Note that an update that arrived at `arrival` waits at a place."""
        self._due.note(place, arrival + self.age)

    def forget(self, place: Place) -> None:
        """Forget a place at which nothing will wait any more."""
        self._due.remove(place)

    def next_due(self) -> float:
        """Return when an update expires next, infinity if none waits."""
        while (first := self._due.first()) is not None:
            bound, place = first
            arrival = self._arrival_of(place)
            if arrival is None:
                self._due.remove(place)
            elif arrival + self.age <= bound:
                return bound
            else:
                self._due.move(place, arrival + self.age)
        return math.inf

    def fall_due(self, due: float) -> None:
        """Drop the update that expires next, at `due`."""
        first = self._due.first()
        assert first is not None, "an update that is due and is not there"
        self._due.remove(first[1])
        self._expire(first[1], due)

    def clear(self) -> None:
        """Forget all places."""
        self._due.clear()
