"""A running arc: a queue, and the items that were taken from it and are not delivered yet.

Items count as delivered when the run that took them is over, because only then the application, or
the queue of results, has what they became. So the application staleness of an arc from a source is
the staleness of the query.

A `TupleArc` feeds every operator except Aggregate, and the application. A `WindowArc` feeds
Aggregate.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from ..clock import Clock
from ..policies import make_queue, make_scheduler
from ..queues import AppendWindowQueue, Stream, StreamQueue, WindowQueue
from ..updates import Update
from ..windows import (
    LazyWindowBuffer,
    WindowBuffer,
    WindowResult,
    WindowSpecification,
    WindowTuple,
)

Item = TypeVar("Item")


class ArcQueue(ABC, Generic[Item]):
    """A queue from which an operator, or the application, takes items.

    If the queue was closed, on its own or with its stream, the arc is empty.
    """

    __slots__ = ("policy", "queue", "stream")

    def __init__(self, policy: str, queue: StreamQueue | WindowQueue | AppendWindowQueue) -> None:
        self.policy = policy
        self.queue = queue
        self.stream: Stream | None = None
        """The stream that feeds the arc, if it comes from a source."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The kind of the queue, for `explain`."""

    @property
    @abstractmethod
    def has_more(self) -> bool:
        """Whether there may be something to take."""

    @abstractmethod
    def staleness(self) -> float:
        """Return how many seconds the oldest waiting item has waited, or 0 if nothing waits."""

    @abstractmethod
    def take(self, limit: int | None) -> list[Item]:
        """Dequeue up to `limit` items, or all if `limit` is None."""

    @abstractmethod
    def settle(self) -> None:
        """Deliver what was taken."""

    def attach(self, stream: Stream, *, snapshot: bool) -> None:
        """Let `stream` feed this arc from now on; with `snapshot`, begin with its newest values."""
        stream.attach(self.queue, snapshot=snapshot)
        self.stream = stream

    def put(self, update: Update) -> None:
        """Enqueue an update that an operator delivers."""
        self.queue.enqueue(update.key, update.value, update.time)

    def __len__(self) -> int:
        """Return how many keys or updates wait."""
        return 0 if self.queue.is_closed else len(self.queue)


AnyArc = ArcQueue[Update] | ArcQueue[WindowTuple]
"""An arc with any kind of items."""


class TupleArc(ArcQueue[Update]):
    """A queue of updates, of any policy.

    >>> from upstream import ManualClock
    >>> arc = TupleArc("in-place", ManualClock())
    >>> arc.put(Update("IBM", 24.0, 0.0))
    >>> arc.take(None)
    [Update(key='IBM', value=24.0, time=0.0)]
    """

    __slots__ = ("_capacity", "_taken")

    queue: StreamQueue

    def __init__(self, policy: str, clock: Clock, capacity: int | None = None) -> None:
        super().__init__(policy, make_queue(policy, clock=clock, capacity=capacity))
        self._capacity = capacity
        self._taken: list[Update] = []

    @property
    def label(self) -> str:
        """The kind of the queue."""
        bound = "" if self._capacity is None else f" of at most {self._capacity}"
        return f"{self.policy} queue{bound}"

    @property
    def has_more(self) -> bool:
        """Whether something waits."""
        return len(self) > 0

    def staleness(self) -> float:
        """Return how many seconds the oldest update has waited. O(waiting) for append."""
        since = None if self.queue.is_closed else self.queue.waiting_since()
        return 0.0 if since is None else self.queue.stream.now() - since

    def take(self, limit: int | None) -> list[Update]:
        """Dequeue up to `limit` updates."""
        if self.queue.is_closed:
            return []
        taken = self.queue.dequeue_many(len(self.queue) if limit is None else limit)
        self._taken += taken
        return taken

    def settle(self) -> None:
        """Deliver what was taken."""
        taken, self._taken = self._taken, []
        if not self.queue.is_closed:
            self.queue.deliver_many(taken)


class WindowArc(ArcQueue[WindowTuple]):
    """A queue of windows, and the results of the windows whose tuples were taken.

    "An aggregate essentially maps updates on input tuples into updates on windows" (report, section
    3.2). So on this arc a newer item replaces a whole window, and never a tuple inside a window.
    The policy `append` keeps every window; the others keep the most recent one of each key.
    """

    __slots__ = ("_arrived", "_buffer", "_hands_out_open", "_has_left_some", "_results")

    queue: WindowQueue | AppendWindowQueue

    def __init__(
        self,
        policy: str,
        specification: WindowSpecification,
        buffer: type[WindowBuffer],
        clock: Clock,
    ) -> None:
        queue: WindowQueue | AppendWindowQueue
        if policy == "append":
            queue = AppendWindowQueue(specification, clock=clock)
        else:
            queue = WindowQueue(specification, buffer, make_scheduler(policy), clock=clock)
        super().__init__(policy, queue)
        self._buffer = buffer
        # A LAZY window is complete when it waits. In other cases tuples may leave while the window
        # is open. Then nothing waits when more of its tuples arrive, and an EAGER window that waits
        # may be incomplete.
        self._hands_out_open = policy == "append" or not issubclass(buffer, LazyWindowBuffer)
        self._arrived = 0
        self._has_left_some = False
        self._results: list[WindowResult] = []

    @property
    def label(self) -> str:
        """The kind of the queue."""
        windows = self.queue.specification
        extent = f"windows of {windows.size:g} s every {windows.slide:g} s"
        if self.policy == "append":
            return f"append queue of all {extent}"
        semantics = self._buffer.__name__.removesuffix("WindowBuffer").upper()
        return f"{self.policy} queue of {semantics} {extent}"

    @property
    def has_more(self) -> bool:
        """Whether there may be something to take."""
        if self.queue.is_closed:
            return False
        came = self._arrivals() != self._arrived if self._hands_out_open else len(self.queue) > 0
        return self._has_left_some or came

    def staleness(self) -> float:
        """Return how many seconds the oldest window has waited. O(keys) if any does."""
        if not len(self):
            return 0.0
        return max((row.waiting_seconds for row in self.queue.key_staleness()), default=0.0)

    def attach(self, stream: Stream, *, snapshot: bool) -> None:
        """Let `stream` feed this arc from now on."""
        super().attach(stream, snapshot=snapshot)
        self._has_left_some = snapshot
        self._arrived = self._arrivals()

    def advance(self, now: float) -> None:
        """Close the windows that end at or before the source time `now`, without further tuples."""
        if not self.queue.is_closed:
            self.queue.advance(now)
            self._has_left_some = True

    def take(self, limit: int | None) -> list[WindowTuple]:
        """Dequeue up to `limit` tuples and ends of windows."""
        if self.queue.is_closed:
            return []
        self._arrived = self._arrivals()
        taken = self.queue.dequeue_many(sys.maxsize if limit is None else limit)
        self._has_left_some = len(taken) == limit
        return taken

    def note_result(self, result: WindowResult) -> None:
        """Note the result of a window, or that it has none."""
        self._results.append(result)

    def settle(self) -> None:
        """Deliver the windows that have a result."""
        results, self._results = self._results, []
        if not self.queue.is_closed:
            self.queue.deliver_many(results)

    def _arrivals(self) -> int:
        """Return how many updates the stream has seen; an operator adds updates only in runs."""
        return 0 if self.stream is None else self.stream.statistics().arrived
