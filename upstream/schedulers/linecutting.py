"""LINECUTTING: slow updaters go to the head of the queue (report, section 5.3).

A key is slow if every waiting key can be served once before the next update of this key is
expected: `update_rate < 1 / (processing_cost * waiting_count)`. The report prints the rule without
the brackets, but only this form has consistent units.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ..keys import Place, QueueOfKeys
from .scheduler import Scheduler


class LinecuttingScheduler(Scheduler):
    """Serve slow updaters first and the other keys in place. Every operation is O(1).

    While the key's update rate or the processing cost is unknown, the key is served in place.
    """

    __slots__ = ("_line", "_waiting")

    name: ClassVar[str] = "linecutting"

    def __init__(self) -> None:
        super().__init__()
        self._line = QueueOfKeys()
        self._waiting = 0

    @property
    def asks_cost(self) -> bool:
        """Whether `schedule` needs the processing cost; here it does."""
        return True

    def schedule(self, place: Place) -> None:
        """Put a slow updater at the head, any other key at the tail."""
        self._waiting += 1
        if self._is_slow(place):
            self._line.prepend(place)
        else:
            self._line.append(place)

    def restore(self, place: Place) -> None:
        """Put the key at the head, but behind the keys there that have waited longer."""
        self._waiting += 1
        self._line.insert_by_wait(place)

    def next(self, now: float) -> Place | None:
        """Return the key at the head."""
        return self._line.head()

    def remove(self, place: Place) -> None:
        """Remove the key."""
        self._waiting -= 1
        self._line.remove(place)

    def _is_slow(self, place: Place) -> bool:
        assert self._surroundings is not None, "the scheduler is not bound to a queue"
        rate = self._surroundings.rates.observe(place.cell)
        cost = self._surroundings.cost.known()
        return bool(rate and cost and rate * cost * self._waiting < 1)

    def __len__(self) -> int:
        return self._waiting

    def __iter__(self) -> Iterator[Place]:
        return iter(self._line)

    def _check(self) -> None:
        self._line._check()
        assert sum(1 for _ in self._line) == self._waiting
