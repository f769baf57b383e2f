"""An arc of windows: what feeds an Aggregate.

"An aggregate essentially maps updates on input tuples into updates on windows" (report, section
3.2), so what a newer one replaces on this arc is a whole window, and never a tuple inside of one.
The policy `append` keeps every window; the others keep the most recent one of each key.
"""

from __future__ import annotations

from typing import Final

from ..clock import Clock
from ..errors import ParameterError, UnknownPolicyError
from ..policies import SCHEDULERS, make_scheduler
from ..queues import AppendWindowQueue, Stream, WindowQueue
from ..windows import (
    LazyWindowBuffer,
    WindowBuffer,
    WindowResult,
    WindowSpecification,
    WindowTuple,
)
from .arc_queue import ArcQueue
from .plan_tree import Arc

WINDOW_POLICIES: Final = ("append", *SCHEDULERS)
"""The policies that there are for windows."""


class WindowArc(ArcQueue[WindowTuple]):
    """A queue of windows, and the results of those whose tuples were taken."""

    __slots__ = (
        "_arrived",
        "_hands_out_open",
        "_has_left_some",
        "_queue",
        "_results",
        "_stream",
        "buffer",
    )

    def __init__(
        self,
        policy: str,
        specification: WindowSpecification,
        buffer: type[WindowBuffer],
        clock: Clock,
    ) -> None:
        super().__init__(policy)
        self._queue: WindowQueue | AppendWindowQueue
        if policy == "append":
            self._queue = AppendWindowQueue(specification, clock=clock)
        else:
            scheduler = make_scheduler(policy)
            self._queue = WindowQueue(specification, buffer, scheduler, clock=clock)
        self.buffer = buffer
        # A LAZY window is there when it waits. Of others, tuples may leave while they are open, and
        # then nothing waits when more of them come; an EAGER one that waits may not be there yet.
        self._hands_out_open = policy == "append" or not issubclass(buffer, LazyWindowBuffer)
        self._stream: Stream | None = None
        self._arrived = 0
        self._has_left_some = False
        self._results: list[WindowResult] = []

    @property
    def queue(self) -> WindowQueue | AppendWindowQueue:
        """The queue itself."""
        return self._queue

    @property
    def label(self) -> str:
        """What kind of queue it is."""
        windows = self._queue.specification
        extent = f"windows of {windows.size:g} s every {windows.slide:g} s"
        if self.policy == "append":
            return f"append queue of all {extent}"
        semantics = self.buffer.__name__.removesuffix("WindowBuffer").upper()
        return f"{self.policy} queue of {semantics} {extent}"

    @property
    def has_more(self) -> bool:
        """Whether there may be something to take."""
        if self._queue.is_closed:
            return False
        if self._has_left_some or self._stream is None:
            return self._has_left_some
        if self._hands_out_open:
            return _arrived(self._stream) != self._arrived
        return len(self._queue) > 0

    def staleness(self) -> float:
        """Return for how many seconds the oldest window has waited. O(keys) if any does."""
        if not len(self):
            return 0.0
        return max((row.waiting_seconds for row in self._queue.key_staleness()), default=0.0)

    def attach(self, stream: Stream, *, snapshot: bool) -> None:
        """Be fed by `stream` from now on."""
        super().attach(stream, snapshot=snapshot)
        self._stream = stream
        self._has_left_some = snapshot
        self._arrived = _arrived(stream)

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, a source time, as no tuple will."""
        if not self._queue.is_closed:
            self._queue.advance(now)
            self._has_left_some = True

    def take(self, limit: int | None) -> list[WindowTuple]:
        """Dequeue up to `limit` tuples and ends of windows."""
        if self._queue.is_closed:
            return []
        if self._stream is not None:
            self._arrived = _arrived(self._stream)
        taken: list[WindowTuple] = []
        while len(taken) != limit and (window_tuple := self._queue.dequeue()) is not None:
            taken.append(window_tuple)
        self._has_left_some = len(taken) == limit
        return taken

    def note_result(self, result: WindowResult) -> None:
        """Note what was made of a window, or that nothing could be."""
        self._results.append(result)

    def settle(self) -> None:
        """Deliver the windows of which a result was made."""
        results, self._results = self._results, []
        if not self._queue.is_closed:
            self._queue.deliver_many(results)


def check_window_arc(arc: Arc) -> None:
    """Raise unless `arc` can carry windows."""
    if arc.policy is not None and arc.policy not in WINDOW_POLICIES:
        raise UnknownPolicyError(arc.policy, WINDOW_POLICIES)
    if arc.capacity is not None:
        raise ParameterError("capacity", arc.capacity, "None for an arc of windows")


def _arrived(stream: Stream) -> int:
    return stream.statistics().arrived
