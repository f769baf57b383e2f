"""What every key scheduler does: decide which of the waiting keys is served next (section 5).

A scheduler orders the places of one queue. It knows nothing of streams, values or memory; what
it may use of its surroundings is handed to it once, by `bind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..errors import AlreadyAttachedError
from ..keys import ArrivalOrder, KeyCell, Place
from ..statistics import ProcessingCost, UpdateRates
from ..updates import Key

Terms = object
"""What was given for one key; only the scheduler that returned it knows what it is."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a scheduler may use of its queue and stream."""

    rates: UpdateRates
    cost: ProcessingCost
    place_of: Callable[[KeyCell], Place | None]
    order: ArrivalOrder | None = None
    """The stream's keys by last arrival, for schedulers that need it."""
    from_oldest: bool = False
    """Whether the keys that are in the order already are to be served, too."""


class Scheduler(ABC):
    """The order in which the keys of one queue are served."""

    __slots__ = ("_surroundings",)

    name: ClassVar[str]
    """The policy's public name."""
    needs_arrival_order: ClassVar[bool] = False
    """Whether the stream has to keep its keys by last arrival for this scheduler."""
    holds_back: ClassVar[bool] = False
    """Whether `next` may return None though keys wait."""

    def __init__(self) -> None:
        self._surroundings: Surroundings | None = None

    @property
    def is_bound(self) -> bool:
        """Whether a queue uses this scheduler."""
        return self._surroundings is not None

    def bind(self, surroundings: Surroundings) -> None:
        """Serve the queue with these surroundings, and none other."""
        if self._surroundings is not None:
            raise AlreadyAttachedError(
                f"this {type(self).__name__} serves another queue; make one for each queue"
            )
        self._surroundings = surroundings

    def unbind(self) -> None:
        """Let go of what `bind` got hold of. No key must wait."""
        self._surroundings = None

    @property
    def asks_cost(self) -> bool:
        """Whether `schedule` needs the processing cost, which must have been asked for before."""
        return False

    def terms_for(self, key: Key) -> Terms:
        """Return what was given for a new key, such as its weight; raise if it makes no sense.

        Nothing is noted of the key: it may not come in. This is the only method that calls what the
        user has given for keys, so all others can be relied on.
        """
        return None

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note that a key came in, for which `terms_for` returned `terms`."""
        return

    @abstractmethod
    def schedule(self, place: Place) -> None:
        """Let a key that starts to wait take its place."""

    @abstractmethod
    def restore(self, place: Place) -> None:
        """Let a key that was given back wait again, as of its original arrival."""

    @abstractmethod
    def next(self, now: float) -> Place | None:
        """Return the key to serve next, or None. It stays where it is until `serve`."""

    def serve(self, place: Place, now: float) -> None:
        """Take out the key that `next` has just returned, since it is served.

        Who minds when a key is served says so here and in `take`.
        """
        self.remove(place)

    def take(self, now: float) -> Place | None:
        """Serve the key to serve next, and return it; None if there is none."""
        place = self.next(now)
        if place is not None:
            self.remove(place)
        return place

    def stand_back(self, place: Place) -> None:
        """Note that the key that was just taken is not served after all; it will be restored."""
        return

    @abstractmethod
    def remove(self, place: Place) -> None:
        """Take out a key that is not to be served now: it has expired, say, or was forgotten."""

    def bars(self, place: Place) -> bool:
        """Tell whether a key that waits will never be served."""
        return False

    def waiting_since(self) -> float | None:
        """Return since when that key waits that has waited longest of those to be served.

        O(waiting), and less where the order tells.
        """
        waits = [place.waiting_since for place in self if place.waiting_since is not None]
        return min(waits, default=None)

    @abstractmethod
    def __len__(self) -> int:
        """Return how many keys wait."""

    @abstractmethod
    def __iter__(self) -> Iterator[Place]:
        """Iterate over the waiting keys, those of one list in their order."""

    @abstractmethod
    def _check(self) -> None:
        """State every invariant."""
