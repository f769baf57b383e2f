"""The key cell: what a stream knows about one update key (the report's KeyCell, section 7).

There is one cell per key and stream, however many queues the stream feeds; what differs from
queue to queue is the key's `Place` there. The cell holds the newest value itself or, where the
stream has a page pool, the location of its encoded bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..updates import Key

if TYPE_CHECKING:
    from .place import Place


class Link:
    """An element of the list by last arrival: a key cell, or a queue's marker among them."""

    __slots__ = ("newer", "older")

    older: Link
    newer: Link

    def __init__(self) -> None:
        # While it is in no list, so that no link is ever None. Not itself: what refers to itself
        # is freed by the garbage collector only, which may take long.
        self.older = self.newer = NOWHERE


NOWHERE: Final = Link.__new__(Link)
"""What a link that is in no list is linked to."""
NOWHERE.older = NOWHERE.newer = NOWHERE


class KeyCell(Link):
    """One update key of a stream, with the newest update accepted for it.

    `version` counts the accepted updates. It is the one counter that an update touches per key:
    how many values were superseded while a key waited, whether one of two updates is newer, and
    the update rate all follow from it.
    """

    __slots__ = ("arrival", "idle", "index", "key", "time", "value", "version", "waiting")

    key: Key
    value: object
    """The newest value; or its `Location` in the page pool; or None once nobody needs it."""
    time: float
    """The source's time of the newest update."""
    arrival: float
    """When the newest update was enqueued."""
    version: int
    idle: Place | None
    """The first of the places in which this key does not wait; the last one's next is itself."""
    index: int
    """The key's number in its stream: the row of the columns that are kept per key. `CLOSED` for a
    key that is not known yet, or not any more."""
    waiting: int
    """In how many queues the key waits."""

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
        """Note that the key does not wait in `place` and would like to."""
        first = self.idle
        place.previous = place.next = place
        if first is not None:
            place.next = first
            first.previous = place
        self.idle = place

    def remove_idle(self, place: Place) -> None:
        """Take `place` off the list that `add_idle` put it on."""
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
