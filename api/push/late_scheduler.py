"""Schedule keys when their connection is served rather than when their updates arrive.

Every queue of a stream takes in an update whose key does not wait in it. With two hundred
connections, two hundred schedulers would run while the sender of the update waits. Here that work
is put off until the connection's own turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from upstream import Key, Scheduler
from upstream.keys import KeyCell, Place
from upstream.schedulers import Surroundings, Terms


class LateScheduler(Scheduler):
    """Serve keys in the order of `inner`, which gets them only when it is needed.

    The only difference is that `inner` estimates a key's rate then, and not before its arrival. It
    must not find keys by itself, as FIFO does.
    """

    __slots__ = ("_inner", "_new")

    name: ClassVar[str] = "late"

    def __init__(self, inner: Scheduler) -> None:
        super().__init__()
        assert not inner.needs_arrival_order, "a scheduler that finds keys by itself"
        self._inner = inner
        self._new: list[Place] = []

    def schedule(self, place: Place) -> None:
        """Note that a key starts to wait."""
        self._new.append(place)

    def settle(self) -> Scheduler:
        """Pass all waiting keys to the inner scheduler, and return it."""
        if self._new:
            schedule = self._inner.schedule
            for place in self._new:
                schedule(place)
            self._new.clear()
        return self._inner

    def begin_at(self, share: float) -> None:
        """Rotate the waiting keys: the key at this share of them comes first.

        Connections that begin together would otherwise serve the same keys at the same time ever
        after, and an update of such a key would have to go to all of them at once. All waiting keys
        must have waited equally long.
        """
        assert 0 <= share < 1, "a share outside of 0 to 1"
        assert len({place.waiting_since for place in self._new}) <= 1, "keys that have an order"
        first = int(share * len(self._new))
        self._new[:] = self._new[first:] + self._new[:first]

    def bind(self, surroundings: Surroundings) -> None:
        """Serve the queue with these surroundings."""
        super().bind(surroundings)
        self._inner.bind(surroundings)

    def unbind(self) -> None:
        """Release the queue."""
        super().unbind()
        self.settle().unbind()

    @property
    def asks_cost(self) -> bool:
        """Whether the inner scheduler needs the processing cost as a key starts to wait."""
        return self._inner.asks_cost

    def terms_for(self, key: Key) -> Terms:
        """Return what was given for `key`; raise if it makes no sense."""
        return self._inner.terms_for(key)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note a new key."""
        self._inner.welcome(cell, terms)

    def restore(self, place: Place) -> None:
        """Let a key that was given back wait again."""
        self.settle().restore(place)

    def next(self, now: float) -> Place | None:
        """Return the key to serve next."""
        return self.settle().next(now)

    def serve(self, place: Place, now: float) -> None:
        """Remove the key that `next` has just returned."""
        self._inner.serve(place, now)

    def take(self, now: float) -> Place | None:
        """Serve the key to serve next, and return it."""
        if self._new:
            self.settle()
        return self._inner.take(now)

    def remove(self, place: Place) -> None:
        """Remove a key that is not to be served now."""
        self.settle().remove(place)

    def bars(self, place: Place) -> bool:
        """Tell whether a waiting key will never be served."""
        return self.settle().bars(place)

    def waiting_since(self) -> float | None:
        """Return since when the longest waiting key has waited, of the keys that may be served."""
        return self.settle().waiting_since()

    def __len__(self) -> int:
        return len(self._inner) + len(self._new)

    def __iter__(self) -> Iterator[Place]:
        return iter(self.settle())

    def _check(self) -> None:
        self.settle()._check()
