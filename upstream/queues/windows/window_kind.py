"""What the kinds of queues of windows differ in: which windows leave, and when."""

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
        """Make the place of a key that may come in, and note nothing of it."""
        ...

    def terms_for(self, key: Key) -> WindowTerms:
        """Return the rate and what else was given for a new key. Raises if it makes no sense."""
        ...

    def welcome(self, place: AnyPlace, terms: Terms) -> None:
        """Note that a key came in, with what `terms_for` returned for it beside the rate."""
        ...

    def react(self, place: AnyPlace, triggers: int, now: float) -> Outcome:
        """Do what the triggers of an arrival ask for."""
        ...

    def note_forgotten(self, place: AnyPlace) -> None:
        """Note that a key is forgotten. What was committed of it may still have to leave."""
        ...

    def ask(self) -> None:
        """Ask what is needed as keys start to wait. May fail."""
        ...

    def ask_times(self, times: Sequence[float]) -> None:
        """Ask what is needed as tuples at `times` start windows. May fail."""
        ...

    def listen(self, feed: Feed) -> None:
        """Note that a stream feeds the queue from now on."""
        ...

    def close(self, places: Iterable[AnyPlace], feed: Feed | None) -> None:
        """Release all windows, since the queue is closed."""
        ...

    def waiting_count(self) -> int:
        """Return how many keys wait."""
        ...

    def ready_count(self, places: Iterable[AnyPlace]) -> int:
        """Return how many of the known keys, or those of which something leaves, are READY."""
        ...

    def idle_count(self) -> int:
        """Return how many keys are IDLE."""
        ...

    def held_by_forgotten(self) -> int:
        """Return how many tuples are held that are still to leave, of keys that were forgotten."""
        ...

    def _check_place(self, place: AnyPlace) -> None:
        """State every invariant of a key."""
        ...
