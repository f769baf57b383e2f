"""FIFO: a newer update moves its key to the tail (report, section 5.2).

This scheduler is a marker in the stream's `ArrivalOrder`, so superseding an update costs a FIFO
queue nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from ..keys import ArrivalOrder, DuePlaces, Marker, Place, QueueOfKeys
from .scheduler import Scheduler, Surroundings

_TAKEN_OUT: Final = QueueOfKeys()
"""The `line` of a key that was removed. It may still wait, and `restore` puts it back later."""


class FifoScheduler(Scheduler):
    """Serve the key whose newest update arrived first.

    Every operation is O(1), except that `next` steps once over each key that left the queue without
    being served. A key that was given back is older than all keys on the newer side of the marker.
    It is served before them, unless it has arrived again.
    """

    __slots__ = ("_marker", "_order", "_returned", "_waiting")

    name: ClassVar[str] = "fifo"
    needs_arrival_order: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._marker = Marker()
        self._order = ArrivalOrder()
        self._returned = DuePlaces()
        """The keys that were given back, by the arrival of their updates."""
        self._waiting = 0

    def bind(self, surroundings: Surroundings) -> None:
        """Put the marker into the stream's list."""
        super().bind(surroundings)
        assert surroundings.order is not None, "FIFO needs the arrival order"
        self._order = surroundings.order
        if surroundings.from_oldest:
            self._order.prepend(self._marker)
        else:
            self._order.append(self._marker)

    def unbind(self) -> None:
        """Remove the marker from the stream's list."""
        super().unbind()
        self._order.remove(self._marker)
        self._order = ArrivalOrder()

    def schedule(self, place: Place) -> None:
        """Count the key. Its arrival has put it on the newer side of the marker."""
        place.line = None
        self._waiting += 1

    def restore(self, place: Place) -> None:
        """Add the key to those that were given back."""
        self._waiting += 1
        self._returned.note(place, place.cell.arrival)
        place.line = None

    def next(self, now: float) -> Place | None:
        """Return the oldest key that was given back, else the first past the marker."""
        while (returned := self._returned.first()) is not None:
            place = returned[1]
            if _is_newest(place):
                return place
            self._returned.remove(place)
        assert self._surroundings is not None
        while (cell := self._order.next_cell(self._marker)) is not None:
            waiting = self._surroundings.place_of(cell)
            if waiting is not None and _is_in_line(waiting):
                return waiting
            self._order.move_past(self._marker, cell)
        return None

    def remove(self, place: Place) -> None:
        """Stop counting the key; the marker will pass it."""
        self._waiting -= 1
        self._returned.remove(place)
        place.line = _TAKEN_OUT

    def __len__(self) -> int:
        return self._waiting

    def __iter__(self) -> Iterator[Place]:
        assert self._surroundings is not None
        for place in self._returned:
            if _is_newest(place):
                yield place
        cell = self._order.next_cell(self._marker)
        while cell is not None:
            waiting = self._surroundings.place_of(cell)
            if waiting is not None and _is_in_line(waiting):
                is_listed = waiting in self._returned and _is_newest(waiting)
                if not is_listed:  # above, as a key that was given back
                    yield waiting
            cell = self._order.next_cell(cell)

    def _check(self) -> None:
        self._returned._check()
        places = list(self)
        assert len(places) == self._waiting == len(set(map(id, places)))


def _is_newest(place: Place) -> bool:
    """Tell whether a key has not arrived again since it was given back."""
    return place.cell.version == place.version_before + 1


def _is_in_line(place: Place) -> bool:
    return place.waiting_since is not None and place.line is not _TAKEN_OUT
