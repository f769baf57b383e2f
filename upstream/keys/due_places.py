"""Places by the time at which something may fall due there.

A waiting update expires a given time after its arrival, and a newer update of its key postpones
that. A window ends at its end, and the next window of its key ends later. So the due time of a key
usually moves to later times. An entry is therefore only a bound: nothing falls due at its place
earlier. A postponement costs nothing until the bound is reached. Then the place is asked again.
"""

from __future__ import annotations

from collections.abc import Iterator

from sortedcontainers import SortedList

from .place import Place


class DuePlaces:
    """At most one entry for each place, the earliest first. O(log places) for each change.

    >>> from upstream.keys import NOBODY, KeyCell
    >>> due = DuePlaces()
    >>> place = Place(KeyCell("IBM", 0, time=0.0, arrival=0.0), NOBODY)
    >>> due.note(place, 5.0)
    >>> due.note(place, 7.0)
    >>> due.first() == (5.0, place)
    True
    """

    __slots__ = ("_entries", "_noted", "_numbers")

    def __init__(self) -> None:
        self._entries: dict[Place, tuple[float, int, Place]] = {}
        self._noted: SortedList[tuple[float, int, Place]] = SortedList()
        self._numbers = 0

    def note(self, place: Place, due: float) -> None:
        """Enter a place at `due`, unless it has an entry at that time or earlier."""
        entry = self._entries.get(place)
        if entry is None:
            self._enter(place, due)
        elif due < entry[0]:
            self.move(place, due)

    def first(self) -> tuple[float, Place] | None:
        """Return the earliest entry, or None. O(1)."""
        if not self._noted:
            return None
        due, _, place = self._noted[0]
        return due, place

    def move(self, place: Place, due: float) -> None:
        """Move the entry of a place to `due`."""
        self.remove(place)
        self._enter(place, due)

    def remove(self, place: Place) -> None:
        """Remove the entry of a place, if it has one."""
        entry = self._entries.pop(place, None)
        if entry is not None:
            self._noted.remove(entry)

    def __iter__(self) -> Iterator[Place]:
        """Iterate over the places, the earliest first; they must not change meanwhile."""
        return (place for _, _, place in self._noted)

    def __contains__(self, place: object) -> bool:
        return place in self._entries

    def _enter(self, place: Place, due: float) -> None:
        # The number makes entries at the same time differ, so that places are never compared.
        self._numbers += 1
        entry = self._entries[place] = (due, self._numbers, place)
        self._noted.add(entry)

    def _check(self) -> None:
        assert sorted(self._entries.values()) == list(self._noted)
