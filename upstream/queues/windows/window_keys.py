"""The places of the keys of a queue of windows, by key.

Like the cells of a `KeyTable`, places are added *before* any tuple is processed, and removed
afterwards. A place that is not open does not count: its windows treat every tuple as late, so the
caller looks again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Generic

from ...columns import check_key
from ...keys import CLOSED, KeyCell
from ...schedulers import Terms
from ...updates import TOMBSTONE, Key
from .window_place import AnyPlace, WindowPlace

WindowTerms = tuple[float | None, Terms]
"""What was given for one key: its rate, and the options for the scheduler."""


class WindowKeys(Generic[AnyPlace]):
    """Find the places of keys, and make new places for keys that may be added in the present call.

    `make` makes a place of a cell and the hash of its key (or None). `ask` returns what is given
    for a key, and may fail.
    """

    __slots__ = ("_ask", "_asked", "_make", "_successors", "places")

    def __init__(
        self,
        make: Callable[[KeyCell, int | None], AnyPlace],
        ask: Callable[[Key], WindowTerms],
    ) -> None:
        self._make = make
        self._ask = ask
        self.places: dict[Key, AnyPlace] = {}
        """The places by key, for looking up only. Some may be closed."""
        self._asked: dict[AnyPlace, WindowTerms] = {}
        self._successors: dict[AnyPlace, AnyPlace | None] = {}
        """The forgotten places that are still in `places`, with the places that follow them."""

    def find(self, key: Key) -> AnyPlace | None:
        """Return the open place of a key, or None."""
        self.end_call()
        place = self.places.get(key)
        return None if place is None or place.cell.index == CLOSED else place

    # Before tuples are processed.

    def place_for(self, key: Key, value: object) -> AnyPlace:
        """Return the place of the key of one tuple; a new place for an unknown key."""
        return self.places_for([key], [value])[0]

    def places_for(self, keys: Sequence[Key], values: Sequence[object]) -> list[AnyPlace]:
        """Return the places of the keys of tuples. The places of new keys are not open."""
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
            if value is TOMBSTONE and place not in self._asked:
                self._asked[place] = self._ask(place.cell.key)  # it may be added again
        return found

    def _reserve(self, keys: Iterable[Key]) -> None:
        reserved: dict[Key, AnyPlace] = {}
        for key in keys:
            terms = self._ask(key)
            place = self._new(key, None)
            self._asked[place] = terms
            reserved[key] = place
        self.places.update(reserved)  # this calls no `__hash__` again

    def _new(self, key: Key, key_hash: int | None) -> AnyPlace:
        place = self._make(KeyCell(key, CLOSED, time=0.0, arrival=0.0), key_hash)
        place.windows.late_before = math.inf
        return place

    # While tuples are processed. None of these methods can fail.

    def terms_of(self, place: AnyPlace) -> WindowTerms:
        """Return what was given for the key of a place that will be opened."""
        return self._asked[place]

    def current(self, place: AnyPlace) -> AnyPlace:
        """Return the present place of the key, if it was forgotten in the same call."""
        while place.delivered_version == WindowPlace.FORGOTTEN:
            following = self._successors[place]
            if following is None:
                following = self._new(place.cell.key, place.key_hash)
                self._successors[place] = following
                self._asked[following] = self._asked[place]
            place = following
        return place

    def forget(self, place: AnyPlace) -> None:
        """Forget the key of a place, which is already closed."""
        place.windows.late_before = math.inf
        self._successors[place] = None

    # After tuples were processed.

    def end_call(self) -> None:
        """Remove the places that are not open, and forget what was given for their keys.

        If this fails, the next call does it.
        """
        for place, following in list(self._successors.items()):
            if following is not None and following.cell.index != CLOSED:
                self.places[place.cell.key] = following
            elif self.places.get(place.cell.key) is place:
                del self.places[place.cell.key]
            del self._successors[place]
        while self._asked:
            place = next(reversed(self._asked))
            is_closed = place.cell.index == CLOSED
            if is_closed and self.places.get(place.cell.key) is place:
                del self.places[place.cell.key]
            del self._asked[place]
            if is_closed:
                place.close_unopened()

    def clear(self) -> None:
        """Forget all places."""
        self.places.clear()
        self._asked.clear()
        self._successors.clear()

    def release(self) -> None:
        """Release the references that lead back to the keys, which are no longer used."""
        self.clear()
        with suppress(AttributeError):
            del self._make, self._ask

    def __iter__(self) -> Iterator[AnyPlace]:
        """Iterate over the open places."""
        following = (place for place in self._successors.values() if place is not None)
        places = chain(self.places.values(), following)
        return (place for place in places if place.cell.index != CLOSED)
