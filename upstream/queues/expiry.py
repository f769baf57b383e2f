"""Expiry: drop updates that have waited longer than the time to live of their queue."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..keys import DuePlaces, Place


class Expiry:
    """Drop the update that waits at a place `age` seconds after its arrival.

    `arrival_of` returns the arrival of the waiting update, or None if none waits. `expire` drops
    it. A newer update of the key postpones the expiry, which is noticed only when the older update
    would have expired. O(log keys) when a key starts to wait and when it is due, and nothing in
    between.
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
        """Note that an update with this arrival waits at a place."""
        self._due.note(place, arrival + self.age)

    def forget(self, place: Place) -> None:
        """Forget a place at which no update waits any more."""
        self._due.remove(place)

    def next_due(self) -> float:
        """Return when an update expires next; infinity if none waits."""
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
        assert first is not None, "no update is due"
        self._due.remove(first[1])
        self._expire(first[1], due)

    def clear(self) -> None:
        """Forget all places."""
        self._due.clear()
