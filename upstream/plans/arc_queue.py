"""An arc at work: a queue, and what was taken from it and is not delivered yet.

What was taken is delivered when the run that took it is over, since only then has the application,
or the queue of results, what became of it. So the application staleness of an arc from a source is
that of the query.

A `TupleArc` feeds every operator but Aggregate, and the application; a `WindowArc` feeds that.
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

    One that was closed, with its stream or by itself, is empty.
    """

    __slots__ = ("policy", "queue", "stream")

    def __init__(self, policy: str, queue: StreamQueue | WindowQueue | AppendWindowQueue) -> None:
        self.policy = policy
        self.queue = queue
        self.stream: Stream | None = None
        """The stream that feeds it, if it comes from a source."""

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
        self.stream = stream

    def put(self, update: Update) -> None:
        """Enqueue an update that an operator delivers."""
        self.queue.enqueue(update.key, update.value, update.time)

    def __len__(self) -> int:
        """Return how much waits: keys or updates."""
        return 0 if self.queue.is_closed else len(self.queue)


AnyArc = ArcQueue[Update] | ArcQueue[WindowTuple]
"""An arc, whatever its items are."""


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
        """What kind of queue it is."""
        bound = "" if self._capacity is None else f" of at most {self._capacity}"
        return f"{self.policy} queue{bound}"

    @property
    def has_more(self) -> bool:
        """Whether something waits."""
        return len(self) > 0

    def staleness(self) -> float:
        """Return for how many seconds the oldest update has waited. O(waiting) for append."""
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
    """A queue of windows, and the results of those whose tuples were taken.

    "An aggregate essentially maps updates on input tuples into updates on windows" (report, section
    3.2), so what a newer one replaces on this arc is a whole window, and never a tuple inside of
    one. The policy `append` keeps every window; the others keep the most recent one of each key.
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
        # A LAZY window is there when it waits. Of others, tuples may leave while they are open, and
        # then nothing waits when more of them come; an EAGER one that waits may not be there yet.
        self._hands_out_open = policy == "append" or not issubclass(buffer, LazyWindowBuffer)
        self._arrived = 0
        self._has_left_some = False
        self._results: list[WindowResult] = []

    @property
    def label(self) -> str:
        """What kind of queue it is."""
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
        """Return for how many seconds the oldest window has waited. O(keys) if any does."""
        if not len(self):
            return 0.0
        return max((row.waiting_seconds for row in self.queue.key_staleness()), default=0.0)

    def attach(self, stream: Stream, *, snapshot: bool) -> None:
        """Be fed by `stream` from now on."""
        super().attach(stream, snapshot=snapshot)
        self._has_left_some = snapshot
        self._arrived = self._arrivals()

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, a source time, as no tuple will."""
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
        """Note what was made of a window, or that nothing could be."""
        self._results.append(result)

    def settle(self) -> None:
        """Deliver the windows of which a result was made."""
        results, self._results = self._results, []
        if not self.queue.is_closed:
            self.queue.deliver_many(results)

    def _arrivals(self) -> int:
        """Return how many updates its stream has seen; an operator feeds it within runs only."""
        return 0 if self.stream is None else self.stream.statistics().arrived
