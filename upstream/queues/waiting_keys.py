"""How keys start to wait in an update queue.

The stream calls this as updates arrive, and each place refers to it. It does not know the queue, so
neither of them keeps a queue alive that was dropped.
"""

from __future__ import annotations

from ..keys import KeyCell, Place
from ..schedulers import Scheduler, Terms
from ..staleness import StalenessSums
from .place_column import PlaceColumn


class WaitingKeys:
    """The keys that wait for `scheduler`, at most `capacity` at once."""

    __slots__ = ("_column", "_schedule", "_scheduler", "_sums", "capacity", "rejected")

    def __init__(
        self,
        scheduler: Scheduler,
        column: PlaceColumn,
        sums: StalenessSums,
        capacity: int | None,
    ) -> None:
        self._scheduler = scheduler
        # A method that is kept is called faster than one that is looked up.
        self._schedule = scheduler.schedule
        self._column = column
        self._sums = sums
        self.capacity = capacity
        """How many keys may wait at once."""
        self.rejected = 0
        """How many updates found no room."""

    @property
    def is_full(self) -> bool:
        """Whether no further key can wait."""
        return self.capacity is not None and len(self._scheduler) >= self.capacity

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Give a key of the stream a place, in which it does not wait yet."""
        self._scheduler.welcome(cell, terms)
        place = Place(cell, self)
        self._column.put(cell, place)
        cell.add_idle(place)

    def start(self, place: Place, version: int, now: float, rows: int = 1) -> bool:
        """Let a key wait, unless the queue is full; then count its `rows` updates as rejected."""
        if self.capacity is not None and len(self._scheduler) >= self.capacity:
            self.rejected += rows
            return False
        if place.delivered_version < 0:
            self._sums.begin(place, version, now)
        if place.stale_since is None:
            place.stale_since = now
        elif place.in_process:
            self._sums.accepted(place, version, now)
        place.waiting_since = now
        place.version_before = place.cell.version
        self._schedule(place)
        return True

    def refuse(self, rows: int) -> None:
        """Count updates that nobody had room for."""
        self.rejected += rows
