"""What is asked about new keys before they come in: rates, weights, intervals, and their hashes.

All of it may fail, so it is asked first. Then the keys are put into the stream's table, closed.
Their first updates open them, which cannot fail. Keys that are still closed at the end of the call
are removed from the table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ...keys import CLOSED, KeyCell, KeyTable
from ...schedulers import Terms
from ...statistics import UpdateRates
from ...updates import Key
from .listener import Listener


class Admission:
    """The keys that may come in with the present call."""

    __slots__ = ("_asked", "_keys", "_listeners", "_rates")

    def __init__(self, keys: KeyTable, rates: UpdateRates, listeners: Sequence[Listener]) -> None:
        self._keys = keys
        self._rates = rates
        self._listeners = listeners
        self._asked: dict[KeyCell, tuple[float | None, list[Terms]]] = {}
        """For each key: the rate that was given, and the terms that each queue was given."""

    def reserve(self, key: Key) -> KeyCell:
        """Ask about a key that is not known, and return a closed cell for it."""
        asked = self._ask(key)
        cell = self._keys.reserve_one(key)
        self._asked[cell] = asked
        return cell

    def reserve_all(self, keys: Collection[Key]) -> dict[Key, KeyCell]:
        """Ask about distinct keys that are not known, and return closed cells for them."""
        asked = [self._ask(key) for key in keys]
        reserved = self._keys.reserve(keys)
        self._asked.update(zip(reserved.values(), asked, strict=True))
        return reserved

    def ask_again(self, cells: Iterable[KeyCell]) -> None:
        """Ask about known keys, which may be forgotten and come in again with the present call."""
        for cell in cells:
            if cell not in self._asked:
                self._asked[cell] = self._ask(cell.key)
        self._keys.is_kept = True

    def open(self, cell: KeyCell, time: float, now: float) -> None:
        """Let a key come in, with a place in each queue."""
        # A known key may have been forgotten as a log was read in the middle of the call.
        rate, terms = self._asked.get(cell) or self._ask(cell.key)
        self._keys.open(cell)
        cell.time = time
        cell.arrival = now
        cell.version = 0
        self._rates.begin(cell, rate)
        for listener, given in zip(self._listeners, terms, strict=True):
            listener.welcome(cell, given)

    def open_all(self, now: float) -> None:
        """Let all keys that were reserved come in, before their first updates."""
        for cell in self._asked:
            if cell.index == CLOSED:
                self.open(cell, BEFORE_ALL, now)

    def end_call(self) -> None:
        """Forget what was asked, and the keys that did not come in."""
        self._asked.clear()
        self._keys.is_kept = False
        self._keys.sweep()

    def _ask(self, key: Key) -> tuple[float | None, list[Terms]]:
        return self._rates.given(key), [each.terms_for(key) for each in self._listeners]


BEFORE_ALL = float("-inf")
"""The time of a key that has come in, and has no update yet."""
