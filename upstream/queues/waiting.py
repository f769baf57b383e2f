"""What waits in a queue of updates: the part in which the kinds of these queues differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..keys import Place
from ..updates import Update
from .in_process import Record
from .stream.beginning import Beginning
from .stream.feed import Feed
from .stream.listener import Listener
from .stream.stream import Stream


@dataclass(frozen=True, slots=True)
class Counts:
    """What a queue has counted of the updates that reached it, see `QueueStatistics`."""

    arrived: int
    late: int
    rejected: int
    superseded: int
    expired: int
    shed: int = 0
    switches: int = 0


class Waiting(Listener, Protocol):
    """What waits in one queue of updates.

    It hears from the stream what arrives; that is the `Listener`. The queue asks it for the rest.
    """

    capacity: int | None
    time_to_live: float | None

    def check_can_join(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`. Ask what may fail."""
        ...

    def listen(self, feed: Feed, beginning: Beginning) -> None:
        """Begin to hear of the updates of a stream."""
        ...

    def stop_listening(self, now: float) -> None:
        """Hear of no more updates, and release what waits. It was counted before."""
        ...

    def release(self) -> None:
        """Release what refers back to the queue's parts, since nothing uses them any more."""
        ...

    def serve_next(self, now: float) -> Update | None:
        """Dequeue one update."""
        ...

    def restore(self, record: Record, now: float) -> None:
        """Let a returned update wait again, or count what else becomes of it."""
        ...

    def drop_waiting(self, place: Place, now: float) -> None:
        """Drop what waits of a key, if anything, and count it as expired."""
        ...

    def peek(self, now: float) -> Update | None:
        """Return what would be served now, None if nothing; change nothing."""
        ...

    def read(self, place: Place | None) -> Update | None:
        """Return the newest update that waits at a place, None if none does."""
        ...

    def snapshot(self) -> list[Update]:
        """Return all updates that wait."""
        ...

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of an update that waits to be served, None if none does."""
        ...

    def __len__(self) -> int:
        """Return how much waits."""
        ...

    def counts_so_far(self) -> Counts:
        """Return what was counted."""
        ...

    def _check(self) -> None:
        """State every invariant."""
        ...
