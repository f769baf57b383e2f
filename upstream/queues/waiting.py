"""What waits in a queue of updates. In this part the kinds of these queues differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..keys import Place
from ..updates import Update
from .in_process import Record
from .stream.feed import Feed
from .stream.listener import Beginning, Listener
from .stream.stream import Stream


@dataclass(frozen=True, slots=True)
class Counts:
    """The counters of the updates that reached a queue (`QueueStatistics`)."""

    arrived: int
    late: int
    rejected: int
    superseded: int
    expired: int
    shed: int = 0
    switches: int = 0


class Waiting(Listener, Protocol):
    """The waiting updates of one queue.

    As a `Listener` it is told by the stream what arrives. The queue calls the other methods.
    """

    capacity: int | None
    time_to_live: float | None

    def check_can_join(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`. Call everything here that may fail."""
        ...

    def listen(self, feed: Feed, beginning: Beginning) -> None:
        """Start to receive the updates of a stream."""
        ...

    def stop_listening(self, now: float) -> None:
        """Stop receiving updates, and release the waiting ones, which were counted before."""
        ...

    def release(self) -> None:
        """Release the references that lead back to the queue's parts, which are no longer used."""
        ...

    def serve_next(self, now: float) -> Update | None:
        """Dequeue one update."""
        ...

    def restore(self, record: Record, now: float) -> None:
        """Let an update that was given back wait again, or count why it does not."""
        ...

    def drop_waiting(self, place: Place, now: float) -> None:
        """Drop the waiting updates of a key, if any, and count them as expired."""
        ...

    def peek(self, now: float) -> Update | None:
        """Return the update that would be served now, or None; change nothing."""
        ...

    def read(self, place: Place | None) -> Update | None:
        """Return the newest update that waits at a place, or None."""
        ...

    def snapshot(self) -> list[Update]:
        """Return all waiting updates."""
        ...

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of a waiting update that can be served, or None."""
        ...

    def __len__(self) -> int:
        """Return how much waits."""
        ...

    def counts_so_far(self) -> Counts:
        """Return the counters so far."""
        ...

    def _check(self) -> None:
        """Assert every invariant."""
        ...
