"""The checks of new keys before they are added: rates, weights, intervals, and hashes.

All of these may fail, so they come first. Then the keys are added to the stream's table with closed
cells. Their first updates open the cells, which cannot fail. Keys whose cells are still closed at
the end of the call are removed from the table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ...keys import CLOSED, KeyCell, KeyTable
from ...schedulers import Terms
from ...statistics import UpdateRates
from ...updates import Key
from .listener import Listener


class Admission:
    """The keys that may be added in the present call."""

    __slots__ = ("_asked", "_keys", "_listeners", "_rates")

    def __init__(self, keys: KeyTable, rates: UpdateRates, listeners: Sequence[Listener]) -> None:
        self._keys = keys
        self._rates = rates
        self._listeners = listeners
        self._asked: dict[KeyCell, tuple[float | None, list[Terms]]] = {}
        """For each key: its given rate, and the options that each queue was given for it."""

    def reserve(self, key: Key) -> KeyCell:
        """Ask about an unknown key, and return a closed cell for it."""
        asked = self._ask(key)
        cell = self._keys.reserve_one(key)
        self._asked[cell] = asked
        return cell

    def reserve_all(self, keys: Collection[Key]) -> dict[Key, KeyCell]:
        """Ask about distinct unknown keys, and return closed cells for them."""
        asked = [self._ask(key) for key in keys]
        reserved = self._keys.reserve(keys)
        self._asked.update(zip(reserved.values(), asked, strict=True))
        return reserved

    def ask_again(self, cells: Iterable[KeyCell]) -> None:
        """Ask about known keys, which may be forgotten and added again in the present call."""
        for cell in cells:
            if cell not in self._asked:
                self._asked[cell] = self._ask(cell.key)
        self._keys.is_kept = True

    def open(self, cell: KeyCell, time: float, now: float) -> None:
        """Add a key, with a place in each queue."""
        # A known key may have been forgotten when a log was read in the middle of the call.
        rate, terms = self._asked.get(cell) or self._ask(cell.key)
        self._keys.open(cell)
        cell.time = time
        cell.arrival = now
        cell.version = 0
        self._rates.begin(cell, rate)
        for listener, given in zip(self._listeners, terms, strict=True):
            listener.welcome(cell, given)

    def open_all(self, now: float) -> None:
        """Add all reserved keys, before their first updates."""
        for cell in self._asked:
            if cell.index == CLOSED:
                self.open(cell, BEFORE_ALL, now)

    def end_call(self) -> None:
        """Forget the answers, and the keys that were not added."""
        self._asked.clear()
        self._keys.is_kept = False
        self._keys.sweep()

    def _ask(self, key: Key) -> tuple[float | None, list[Terms]]:
        return self._rates.given(key), [each.terms_for(key) for each in self._listeners]


BEFORE_ALL = float("-inf")
"""The time of a key that was added and has no update yet."""
