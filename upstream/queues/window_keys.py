"""The places of the keys of a queue of windows, by key.

To find a key in a dict, to put it in or to take it out calls the key's own `__hash__` and `__eq__`,
which may fail. So places are put in *before* any tuple is taken in, and taken out afterwards. A
place that is not open is as good as none: its buffer takes every tuple for late, so whoever finds
it looks again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Generic, TypeVar
from weakref import WeakMethod

from ..columns import check_key
from ..keys import CLOSED, KeyCell
from ..schedulers import Terms
from ..updates import TOMBSTONE, Key
from .window_place import WindowPlace

AnyPlace = TypeVar("AnyPlace", bound=WindowPlace)

Admission = tuple[float | None, Terms]
"""What was given for one key: its rate, and what the scheduler asked for."""


class WindowKeys(Generic[AnyPlace]):
    """Find the places of keys, with new ones for keys that may come in with the present call.

    `make` makes a place of a cell, given the hash of its key or None; `admit` asks what is given
    for a key. Both are methods of the queue, which is not kept alive by them.
    """

    __slots__ = ("_admissions", "_admit", "_make", "_successors", "places")

    def __init__(
        self,
        make: Callable[[KeyCell, int | None], AnyPlace],
        admit: Callable[[Key], Admission],
    ) -> None:
        self._make = WeakMethod(make)
        self._admit = WeakMethod(admit)
        self.places: dict[Key, AnyPlace] = {}
        """For looking up only: one of them may be closed."""
        self._admissions: dict[AnyPlace, Admission] = {}
        self._successors: dict[AnyPlace, AnyPlace | None] = {}
        """The places that were forgotten, and are in `places` still; with those that follow."""

    def find(self, key: Key) -> AnyPlace | None:
        """Return the open place of a key, if it has one."""
        self.end_call()
        place = self.places.get(key)
        return None if place is None or place.cell.index == CLOSED else place

    # Before tuples are taken in.

    def place_for(self, key: Key, value: object) -> AnyPlace:
        """Return the place of the key of one tuple, a new one if it is not known."""
        return self.places_for([key], [value])[0]

    def places_for(self, keys: Sequence[Key], values: Sequence[object]) -> list[AnyPlace]:
        """Return the places of the keys of tuples; those of new keys are not open."""
        self.end_call()
        for row, key in enumerate(keys):
            check_key(key, row if len(keys) > 1 else None)
        places = [self.places.get(key) for key in keys]
        if None in places:
            new = {key: None for key, place in zip(keys, places, strict=True) if place is None}
            self._reserve(new)
            places = [self.places[key] for key in keys]
        found = [place for place in places if place is not None]
        for place, value in zip(found, values, strict=True):
            if value is TOMBSTONE and place not in self._admissions:
                self._admissions[place] = self._ask(place.cell.key)  # it may come in again
        return found

    def _reserve(self, keys: Iterable[Key]) -> None:
        reserved: dict[Key, AnyPlace] = {}
        for key in keys:
            place = reserved[key] = self._new(key, None)
            self._admissions[place] = self._ask(key)
        self.places.update(reserved)  # which calls no `__hash__` again

    def _ask(self, key: Key) -> Admission:
        admit = self._admit()
        assert admit is not None, "a queue that is gone"
        return admit(key)

    def _new(self, key: Key, key_hash: int | None) -> AnyPlace:
        make = self._make()
        assert make is not None, "a queue that is gone"
        place = make(KeyCell(key, CLOSED, time=0.0, arrival=0.0), key_hash)
        place.buffer.late_before = math.inf
        return place

    # While tuples are taken in; nothing of it can fail.

    def admission_of(self, place: AnyPlace) -> Admission:
        """Return what was asked of the key of a place that is to be opened."""
        return self._admissions[place]

    def current(self, place: AnyPlace) -> AnyPlace:
        """Return the place that the key has by now, if it was forgotten in the same call."""
        while place.delivered_version == WindowPlace.FORGOTTEN:
            following = self._successors[place]
            if following is None:
                following = self._new(place.cell.key, place.key_hash)
                self._successors[place] = following
                self._admissions[following] = self._admissions[place]
            place = following
        return place

    def forget(self, place: AnyPlace) -> None:
        """Let the key of a place that is closed now be not known."""
        place.buffer.late_before = math.inf
        self._successors[place] = None

    # Afterwards.

    def end_call(self) -> None:
        """Take out the places that are not open, and forget what was asked of their keys.

        If that fails, it is done with the next call.
        """
        for place, following in list(self._successors.items()):
            if following is not None and following.cell.index != CLOSED:
                self.places[place.cell.key] = following
            elif self.places.get(place.cell.key) is place:
                del self.places[place.cell.key]
            del self._successors[place]
        while self._admissions:
            place = next(reversed(self._admissions))
            if place.cell.index == CLOSED and self.places.get(place.cell.key) is place:
                del self.places[place.cell.key]
            del self._admissions[place]

    def clear(self) -> None:
        """Let go of all places."""
        self.places.clear()
        self._admissions.clear()
        self._successors.clear()

    def __iter__(self) -> Iterator[AnyPlace]:
        """Iterate over the open places."""
        following = (place for place in self._successors.values() if place is not None)
        places = chain(self.places.values(), following)
        return (place for place in places if place.cell.index != CLOSED)
