"""An arc at work: a queue, and what was taken from it and is not delivered yet.

What was taken is delivered when the run that took it is over, since only then has the application,
or the queue of results, what became of it. So the application staleness of an arc from a source is
that of the query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from ..queues import AppendWindowQueue, Stream, StreamQueue, WindowQueue
from ..updates import Update
from ..windows import WindowTuple

Item = TypeVar("Item")
AnyQueue = StreamQueue | WindowQueue | AppendWindowQueue


class ArcQueue(ABC, Generic[Item]):
    """A queue from which an operator, or the application, takes items."""

    __slots__ = ("policy",)

    def __init__(self, policy: str) -> None:
        self.policy = policy

    @property
    @abstractmethod
    def queue(self) -> AnyQueue:
        """The queue itself."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What kind of queue it is, for `explain`."""

    @property
    @abstractmethod
    def has_more(self) -> bool:
        """Whether there may be something to take."""

    @abstractmethod
    def staleness(self) -> float:
        """Return for how many seconds the oldest of what waits has waited, 0 if nothing does."""

    @abstractmethod
    def take(self, limit: int | None) -> list[Item]:
        """Dequeue up to `limit` items, all if that is None."""

    @abstractmethod
    def settle(self) -> None:
        """Deliver what was taken."""

    def attach(self, stream: Stream, *, snapshot: bool) -> None:
        """Be fed by `stream` from now on, with `snapshot` from its newest values on."""
        stream.attach(self.queue, snapshot=snapshot)

    def put(self, update: Update) -> None:
        """Enqueue an update that an operator delivers."""
        self.queue.enqueue(update.key, update.value, update.time)

    def __len__(self) -> int:
        """Return how much waits: keys or updates."""
        return 0 if self.queue.is_closed else len(self.queue)


AnyArc = ArcQueue[Update] | ArcQueue[WindowTuple]
"""An arc, whatever its items are."""
