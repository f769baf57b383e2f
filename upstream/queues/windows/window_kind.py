"""The part in which the kinds of queues of windows differ: which windows leave, and when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ...keys import KeyCell
from ...schedulers import Terms
from ...updates import Key, Outcome
from ..stream.feed import Feed
from .window_keys import WindowTerms
from .window_place import AnyPlace


class WindowKind(Protocol[AnyPlace]):
    """The windows of all keys of one queue."""

    def make_place(self, cell: KeyCell, key_hash: int | None) -> AnyPlace:
        """Make the place of a key that may be added, without storing anything about it."""
        ...

    def terms_for(self, key: Key) -> WindowTerms:
        """Return the rate and the options given for a new key; raise if they are invalid."""
        ...

    def welcome(self, place: AnyPlace, terms: Terms) -> None:
        """Note a new key; `terms` are its options from `terms_for`, without the rate."""
        ...

    def react(self, place: AnyPlace, triggers: int, now: float) -> Outcome:
        """Handle the triggers of an arrival."""
        ...

    def note_forgotten(self, place: AnyPlace) -> None:
        """Note that a key is forgotten. Its committed window may still have to leave."""
        ...

    def ask(self) -> None:
        """Ask for what is needed when keys start to wait. This may fail."""
        ...

    def ask_times(self, times: Sequence[float]) -> None:
        """Ask for what is needed when tuples at `times` start windows. This may fail."""
        ...

    def listen(self, feed: Feed) -> None:
        """Note that a stream feeds the queue from now on."""
        ...

    def close(self, places: Iterable[AnyPlace], feed: Feed | None) -> None:
        """Release all windows, because the queue is closed."""
        ...

    def waiting_count(self) -> int:
        """Return the number of waiting keys."""
        ...

    def ready_count(self, places: Iterable[AnyPlace]) -> int:
        """Return the number of READY keys; `places` has the places of all keys."""
        ...

    def idle_count(self) -> int:
        """Return the number of IDLE keys."""
        ...

    def held_by_forgotten(self) -> int:
        """Return the number of tuples of forgotten keys that must still leave."""
        ...

    def _check_place(self, place: AnyPlace) -> None:
        """Assert every invariant of a key."""
        ...
