"""An arc of updates: what feeds every operator but Aggregate, and the application."""

from __future__ import annotations

from ..clock import Clock
from ..policies import make_queue
from ..queues import StreamQueue
from ..updates import Update
from .arc_queue import ArcQueue
from .plan_tree import Arc


class TupleArc(ArcQueue[Update]):
    """A queue of updates, of any policy.

    >>> from upstream import ManualClock, Stream
    >>> from upstream.plans import Source
    >>> clock = ManualClock()
    >>> arc = TupleArc(Arc(Source(Stream(clock=clock))), "in-place", clock)
    >>> arc.put(Update("IBM", 24.0, 0.0))
    >>> arc.take(None)
    [Update(key='IBM', value=24.0, time=0.0)]
    """

    __slots__ = ("_queue", "_taken", "capacity")

    def __init__(self, arc: Arc, policy: str, clock: Clock) -> None:
        super().__init__(policy)
        self._queue = make_queue(policy, clock=clock, capacity=arc.capacity)
        self.capacity = arc.capacity
        self._taken: list[Update] = []

    @property
    def queue(self) -> StreamQueue:
        """The queue itself."""
        return self._queue

    @property
    def label(self) -> str:
        """What kind of queue it is."""
        bound = "" if self.capacity is None else f" of at most {self.capacity}"
        return f"{self.policy} queue{bound}"

    @property
    def has_more(self) -> bool:
        """Whether something waits."""
        return len(self) > 0

    def staleness(self) -> float:
        """Return for how many seconds the oldest update has waited. O(waiting) for append."""
        if self._queue.is_closed:
            return 0.0
        since = self._queue.waiting_since()
        return 0.0 if since is None else self._queue.stream.now() - since

    def take(self, limit: int | None) -> list[Update]:
        """Dequeue up to `limit` updates."""
        if self._queue.is_closed:
            return []
        taken = self._queue.dequeue_many(len(self._queue) if limit is None else limit)
        self._taken += taken
        return taken

    def settle(self) -> None:
        """Deliver what was taken."""
        taken, self._taken = self._taken, []
        if not self._queue.is_closed:
            self._queue.deliver_many(taken)
