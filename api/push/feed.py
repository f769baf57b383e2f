"""What push asks of the service: the streams and queues that connections are fed from."""

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
    """The queue of one connection, of whatever kind the queue is that it is like."""

    def dequeue(self) -> Update | None:
        """Hand out the update that is to be sent next, or None if there is none now."""
        ...

    def deliver(self, update: Update) -> None:
        """Note that the client has an update."""
        ...

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of what waits, None if nothing does. O(waiting)."""
        ...

    def queue_staleness(self) -> float:
        """Return the mean queue staleness in seconds. O(keys)."""
        ...

    def close(self) -> object:
        """Detach from the stream, and free everything."""
        ...

    def __len__(self) -> int:
        """Return how much waits."""
        ...


@runtime_checkable
class TakesTurns(Protocol):
    """A queue that may hand out nothing though it has work to do, so that others have a turn."""

    @property
    def has_more(self) -> bool:
        """Whether `dequeue` may have something to do at once."""
        ...


class DeletionRecord(Protocol):
    """The keys that were deleted lately."""

    def since(self, arrival: float) -> list[Update] | None:
        """Return the deletions of keys that are gone, None if the record begins after `arrival`."""
        ...


class StreamFeed(Protocol):
    """A stream, and who is connected to it."""

    subscribers: set[Subscription]

    @property
    def run(self) -> str:
        """What tells this stream from others of its name, such as that of another run."""
        ...

    @property
    def stream(self) -> Stream:
        """The stream itself."""
        ...

    @property
    def deletions(self) -> DeletionRecord:
        """The keys that were deleted lately."""
        ...

    def wake_on_update(self, wake: Wake) -> None:
        """Call `wake` once, after updates were taken in the next time."""
        ...

    def stop_waking(self, wake: Wake) -> None:
        """Do not call `wake`, if it was to be called."""
        ...


class Definition(Protocol):
    """What a queue should be like."""

    @property
    def kind(self) -> str:
        """Which kind of queue it is."""
        ...


class QueueFeed(Protocol):
    """A named queue, of which every connection gets one of its own."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def stream(self) -> StreamFeed:
        """The stream that feeds it."""
        ...

    @property
    def definition(self) -> Definition:
        """What it is like."""
        ...

    def attach_private(
        self, wrap: Wrap | None = None, *, snapshot: bool = False, since: float | None = None
    ) -> PrivateQueue:
        """Return a new queue like this one that the same stream feeds, for one connection.

        `wrap` may put its scheduler into another one. It starts with the newest values of all keys,
        or of those whose newest update arrived at `since` or later.
        """
        ...

    def serve_push(self) -> None:
        """Note that a connection is served."""
        ...


class Settings(Protocol):
    """What whoever runs the service decides about push."""

    @property
    def default_window(self) -> int:
        """How many messages may be unanswered, unless a connection says so."""
        ...

    @property
    def heartbeat_seconds(self) -> float:
        """How long a connection may be silent."""
        ...

    @property
    def max_connections(self) -> int:
        """How many connections there may be at once."""
        ...


class Meter(Protocol):
    """What is counted over all connections there ever were."""

    push_updates_sent: int


class Feeds(Protocol):
    """The service."""

    @property
    def settings(self) -> Settings:
        """What was decided about push."""
        ...

    @property
    def meter(self) -> Meter:
        """What is counted."""
        ...

    @property
    def turns(self) -> Turns:
        """What connections that are behind take turns by."""
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
        """Return the queue of this name; UnknownNameError if there is none."""
        ...
