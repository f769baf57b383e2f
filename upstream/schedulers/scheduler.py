"""Key schedulers: they decide which waiting key is served next (section 5).

A scheduler orders the places of one queue. It does not know streams, values or memory. `bind`
gives it the parts of its queue and stream that it may use.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..errors import AlreadyAttachedError, ParameterError
from ..keys import ArrivalOrder, KeyCell, Place
from ..statistics import ProcessingCost, UpdateRates
from ..updates import Key

Terms = object
"""The options given for one key. Only the scheduler that returned them knows their type."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The parts of its queue and stream that a scheduler may use."""

    rates: UpdateRates
    cost: ProcessingCost
    place_of: Callable[[KeyCell], Place | None]
    order: ArrivalOrder | None = None
    """The stream's keys by last arrival, for schedulers that need this order."""
    from_oldest: bool = False
    """Whether the keys that are already in `order` must be served too."""


def check_scheduler(scheduler: object) -> None:
    """Raise ParameterError unless this is a scheduler, such as a queue needs."""
    if not isinstance(scheduler, Scheduler):
        raise ParameterError(
            "scheduler", scheduler, "a scheduler object such as InPlaceScheduler()"
        )


class Scheduler(ABC):
    """The order in which the keys of one queue are served. One scheduler serves one queue."""

    __slots__ = ("_surroundings",)

    name: ClassVar[str]
    """The policy's public name."""
    needs_arrival_order: ClassVar[bool] = False
    """Whether the stream must keep its keys by last arrival for this scheduler."""
    holds_back: ClassVar[bool] = False
    """Whether `next` may return None while keys wait."""

    def __init__(self) -> None:
        self._surroundings: Surroundings | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} waiting>"

    @property
    def is_bound(self) -> bool:
        """Whether a queue uses this scheduler."""
        return self._surroundings is not None

    def bind(self, surroundings: Surroundings) -> None:
        """Serve the queue with these surroundings, and no other queue."""
        if self._surroundings is not None:
            raise AlreadyAttachedError(
                f"this {type(self).__name__} already serves a queue; make one for each queue"
            )
        self._surroundings = surroundings

    def unbind(self) -> None:
        """Release what `bind` provided. No key may wait."""
        self._surroundings = None

    @property
    def asks_cost(self) -> bool:
        """Whether `schedule` needs the processing cost, which must be known before the call."""
        return False

    def terms_for(self, key: Key) -> Terms:
        """Return the options given for a new key, such as its weight; raise if they are invalid.

        This must not store anything about the key, because the key may still be rejected. No other
        method calls functions of the user for a key, so no other method can fail because of them.
        """
        return None

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note a new key; `terms` is what `terms_for` returned for it."""
        return

    @abstractmethod
    def schedule(self, place: Place) -> None:
        """Add a key that starts to wait."""

    @abstractmethod
    def restore(self, place: Place) -> None:
        """Add a key whose update was given back, at the place of its original arrival."""

    @abstractmethod
    def next(self, now: float) -> Place | None:
        """Return the key to serve next, or None. The key stays until `serve` is called."""

    def serve(self, place: Place, now: float) -> None:
        """Remove the key that `next` has just returned, because it is served now.

        A scheduler that depends on the times of services overrides this method and `take`.
        """
        self.remove(place)

    def take(self, now: float) -> Place | None:
        """Remove and return the key to serve next, or return None."""
        place = self.next(now)
        if place is not None:
            self.remove(place)
        return place

    def stand_back(self, place: Place) -> None:
        """Note that the key that was just taken is not served; `restore` will be called for it."""
        return

    @abstractmethod
    def remove(self, place: Place) -> None:
        """Remove a key that is not served now, for example because it expired."""

    def bars(self, place: Place) -> bool:
        """Tell whether this waiting key will never be served."""
        return False

    def waiting_since(self) -> float | None:
        """Return the start of the longest wait of any key that can be served, or None.

        O(waiting), or less if the order of the keys shows it.
        """
        waits = [place.waiting_since for place in self if place.waiting_since is not None]
        return min(waits, default=None)

    @abstractmethod
    def __len__(self) -> int:
        """Return how many keys wait."""

    @abstractmethod
    def __iter__(self) -> Iterator[Place]:
        """Iterate over the waiting keys; keys of one list come in their order."""

    @abstractmethod
    def _check(self) -> None:
        """Assert every invariant."""
