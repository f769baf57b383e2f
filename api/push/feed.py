"""What push needs of a stream and of a queue, whose own classes stand above push (`entries`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from upstream import Stream

from ..definitions import AnyQueue, QueueDefinition, Wrap
from ..deletions import Deletions
from ..wake_list import WakeList

if TYPE_CHECKING:
    from .subscription import Subscription


class StreamFeed(Protocol):
    """A stream with its connections."""

    stream: Stream
    run: str
    """Identifies this stream among others of its name and other runs of the service."""
    deletions: Deletions
    idle: WakeList
    """The connections and requests that wait for the next update."""
    subscribers: set[Subscription]


class QueueFeed(Protocol):
    """A named queue. Each of its connections gets a private queue like it."""

    name: str
    definition: QueueDefinition

    @property
    def stream(self) -> StreamFeed:
        """The stream that feeds it."""
        ...

    def attach_private(
        self, wrap: Wrap | None = None, *, snapshot: bool = False, since: float | None = None
    ) -> AnyQueue:
        """Return a new queue like this one, attached to the same stream, for one connection.

        `wrap` may put its scheduler into another one. The queue starts with the newest values of
        all keys, or of those whose newest update arrived at `since` or later.
        """
        ...

    def serve_push(self) -> None:
        """Note that a connection follows the queue."""
        ...
