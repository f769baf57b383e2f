"""A subscriber of windows: a queue of them, and the server that makes one result of each."""

from __future__ import annotations

from typing import Any

from upstream import Aggregate, WindowedQueue, WindowResult, WindowTuple

from ..kernel.event_loop import Bell, EventLoop, Process
from .processing_costs import Costs


class WindowTrace:
    """What the server took, and what it delivered, each with the time of it, in order."""

    __slots__ = ("left", "results")

    def __init__(self) -> None:
        self.left: list[tuple[float, WindowTuple]] = []
        """The tuples and marks that left the queue."""
        self.results: list[tuple[float, WindowResult]] = []


class WindowSubscriber:
    """A queue of windows, and one server that aggregates them.

    A tuple takes a cost for each window that it updates (the report's C_t, and its "no
    optimizations concerning the window computation"); a mark without a tuple takes none. What the
    server has made of a window is delivered when its last tuple is done. `is_logged` keeps what
    happens in `trace`.
    """

    __slots__ = (
        *("_costs", "_loop", "aggregate", "bell", "log", "name", "queue", "servers"),
        "trace",
    )

    def __init__(
        self,
        name: str,
        queue: WindowedQueue[Any],
        loop: EventLoop,
        *,
        costs: Costs,
        aggregate: Aggregate | None = None,
        is_logged: bool = False,
    ) -> None:
        self.name = name
        self.queue = queue
        self.aggregate = Aggregate("count") if aggregate is None else aggregate
        self.servers = 1
        self.log = None
        self.trace = WindowTrace() if is_logged else None
        self._loop = loop
        self.bell: Bell = loop.bell()
        """Where idle servers sleep until something arrives."""
        self._costs = costs

    def serve(self) -> Process:
        """Take tuples, aggregate them, and deliver results, for ever."""
        aggregate, queue, loop, trace = self.aggregate, self.queue, self._loop, self.trace
        while True:
            leaving = queue.dequeue()
            if leaving is None:
                yield self.bell.wait()
                continue
            if trace is not None:
                trace.left.append((loop.now, leaving))
            steps = aggregate.steps
            result = aggregate.process(leaving)
            steps = aggregate.steps - steps
            if steps:
                yield loop.work_for(sum(next(self._costs) for _ in range(steps)))
            if result is not None:
                queue.deliver(result)
                if trace is not None:
                    trace.results.append((loop.now, result))
