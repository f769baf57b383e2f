"""What push needs of the service: streams, queues, settings and counters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from upstream import Scheduler, Stream, Update

if TYPE_CHECKING:
    from .subscription import Subscription
    from .turns import Turns

Wake = Callable[[], None]
Wrap = Callable[[Scheduler], Scheduler]


class PrivateQueue(Protocol):
    """The private queue of one connection, of any kind."""

    def dequeue(self) -> Update | None:
        """Return the update to send next, or None if there is none."""
        ...

    def deliver(self, update: Update) -> None:
        """Note that the client has processed an update."""
        ...

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of what waits, or None if nothing waits. O(waiting)."""
        ...

    def queue_staleness(self) -> float:
        """Return the mean queue staleness in seconds. O(keys)."""
        ...

    def close(self) -> object:
        """Detach from the stream, and release everything."""
        ...

    def __len__(self) -> int:
        """Return how much waits."""
        ...


@runtime_checkable
class TakesTurns(Protocol):
    """A queue whose `dequeue` may return None before it is done, so that other tasks can run."""

    @property
    def has_more(self) -> bool:
        """Whether `dequeue` has more to do at once."""
        ...


class DeletionRecord(Protocol):
    """The recently deleted keys."""

    def since(self, arrival: float) -> list[Update] | None:
        """Return the deletions since `arrival`, or None if the record begins later."""
        ...


class StreamFeed(Protocol):
    """A stream with its connections."""

    subscribers: set[Subscription]

    @property
    def run(self) -> str:
        """Identifies this stream among others of its name and other runs of the service."""
        ...

    @property
    def stream(self) -> Stream:
        """The library's stream."""
        ...

    @property
    def deletions(self) -> DeletionRecord:
        """The recently deleted keys."""
        ...

    def wake_on_update(self, wake: Wake) -> None:
        """Call `wake` once, after the next updates."""
        ...

    def stop_waking(self, wake: Wake) -> None:
        """Do not call `wake`."""
        ...


class Definition(Protocol):
    """The definition of a queue."""

    @property
    def kind(self) -> str:
        """The kind of queue."""
        ...


class QueueFeed(Protocol):
    """A named queue. Each of its connections gets a private queue like it."""

    @property
    def name(self) -> str:
        """The name of the queue."""
        ...

    @property
    def stream(self) -> StreamFeed:
        """The stream that feeds it."""
        ...

    @property
    def definition(self) -> Definition:
        """The definition of the queue."""
        ...

    def attach_private(
        self, wrap: Wrap | None = None, *, snapshot: bool = False, since: float | None = None
    ) -> PrivateQueue:
        """Return a new queue like this one, attached to the same stream, for one connection.

        `wrap` may put its scheduler into another one. The queue starts with the newest values of
        all keys, or of those whose newest update arrived at `since` or later.
        """
        ...

    def serve_push(self) -> None:
        """Note that a connection follows the queue."""
        ...


class Settings(Protocol):
    """The settings for push."""

    @property
    def default_window(self) -> int:
        """How many messages a client may leave unanswered by default."""
        ...

    @property
    def heartbeat_seconds(self) -> float:
        """The longest silence of a connection."""
        ...

    @property
    def max_connections(self) -> int:
        """The most connections at once."""
        ...


class Meter(Protocol):
    """Counters over all connections."""

    push_updates_sent: int


class Feeds(Protocol):
    """The service."""

    @property
    def settings(self) -> Settings:
        """The settings for push."""
        ...

    @property
    def meter(self) -> Meter:
        """The counters."""
        ...

    @property
    def turns(self) -> Turns:
        """The turns of connections that are behind."""
        ...

    @property
    def streams(self) -> Mapping[str, StreamFeed]:
        """All streams."""
        ...

    @property
    def closing(self) -> asyncio.Event:
        """Set when the service is about to stop."""
        ...

    def queue(self, name: str) -> QueueFeed:
        """Return the queue of this name; raises UnknownNameError if it does not exist."""
        ...
