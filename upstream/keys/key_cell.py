"""The key cell: what a stream knows about one update key (the report's KeyCell, section 7).

Each key of a stream has one cell, for any number of queues. What differs between queues is the
key's `Place` in each of them. The cell holds the newest value itself or, if the stream has a page
pool, the location of its encoded bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..updates import Key

if TYPE_CHECKING:
    from .place import Place


class Link:
    """An element of the list by last arrival: a key cell, or a marker of a reader."""

    __slots__ = ("newer", "older")

    older: Link
    newer: Link

    def __init__(self) -> None:
        # A link in no list refers to NOWHERE, so no link is ever None. It does not refer to itself,
        # because then only the garbage collector would free it, perhaps much later.
        self.older = self.newer = NOWHERE


NOWHERE: Final = Link.__new__(Link)
"""The neighbour of a link that is in no list."""
NOWHERE.older = NOWHERE.newer = NOWHERE


class KeyCell(Link):
    """One update key of a stream, with the newest update accepted for it.

    `version` counts the accepted updates. It is the only counter per key that an update changes. It
    tells how many values were superseded while a key waited, which of two updates is newer, and
    the update rate.
    """

    __slots__ = ("arrival", "idle", "index", "key", "time", "value", "version", "waiting")

    key: Key
    value: object
    """The newest value, or its `Location` in the page pool, or None if it is no longer needed."""
    time: float
    """The source time of the newest update."""
    arrival: float
    """When the newest update was enqueued."""
    version: int
    idle: Place | None
    """The first place in which this key does not wait. The `next` of the last one is itself."""
    index: int
    """The key's number in its stream, which is its row in the columns per key. It is `CLOSED` for a
    key that is not known yet or no longer known."""
    waiting: int
    """The number of queues in which the key waits."""

    def __init__(self, key: Key, index: int, *, time: float, arrival: float) -> None:
        self.older = self.newer = NOWHERE
        self.key = key
        self.value = None
        self.time = time
        self.arrival = arrival
        self.version = 0
        self.idle = None
        self.index = index
        self.waiting = 0

    def add_idle(self, place: Place) -> None:
        """Add a place in which the key does not wait, so that the next arrival visits it."""
        first = self.idle
        place.previous = place.next = place
        if first is not None:
            place.next = first
            first.previous = place
        self.idle = place

    def remove_idle(self, place: Place) -> None:
        """Remove `place` from the list that `add_idle` put it into."""
        before = place.previous
        after = place.next
        if before is place:
            assert self.idle is place, "a place that is not in its cell's list of idle places"
            self.idle = None if after is place else after
            after.previous = after
        else:
            before.next = before if after is place else after
            if after is not place:
                after.previous = before
        place.previous = place.next = place

    def idle_places(self) -> list[Place]:
        """Return the places in which this key does not wait. O(queues)."""
        places: list[Place] = []
        place = self.idle
        while place is not None:
            places.append(place)
            place = None if place.next is place else place.next
        return places

    def _check(self) -> None:
        places = self.idle_places()
        for position, place in enumerate(places):
            assert place.cell is self and place.waiting_since is None
            assert place.previous is places[max(position - 1, 0)], "links that disagree"
        assert self.waiting >= 0 and self.version >= 0
