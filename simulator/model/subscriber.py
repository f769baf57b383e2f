"""A subscriber: a queue, the servers that take from it, and what is noted while they do.

The application has a result as soon as a server has finished it. The update that a server has taken
is in process until then; processing is never interrupted. How long a server needs for an update is
a fixed time, or a random one with a given mean.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, Final

import numpy as np

from upstream import Aggregate, Key, StreamQueue, WindowedQueue, WindowResult, WindowTuple
from upstream.events import EventKind, EventSink

from ..errors import OptionError
from ..kernel.event_loop import Bell, EventLoop, Process
from ..workloads.workload import rounded_up
from .event_log import EventLog

_DRAWN_AT_ONCE: Final = 1024

Costs = Iterator[float]
"""Endless costs, one for each update that is served."""


def fixed(mean: float, _: np.random.Generator) -> Costs:
    """Return the same cost every time, rounded up so that it adds up exactly."""
    return repeat(rounded_up(mean))


def exponential(mean: float, random: np.random.Generator) -> Costs:
    """Draw costs that are memoryless."""
    while True:
        yield from random.exponential(mean, _DRAWN_AT_ONCE).tolist()


def uniform(mean: float, random: np.random.Generator) -> Costs:
    """Draw costs from 0 to twice the mean."""
    while True:
        yield from random.uniform(0.0, 2.0 * mean, _DRAWN_AT_ONCE).tolist()


COST_DISTRIBUTIONS: Final[dict[str, Callable[[float, np.random.Generator], Costs]]] = {
    "fixed": fixed,
    "exponential": exponential,
    "uniform": uniform,
}
"""The distributions by name."""


def check_cost(cost: float, option: str = "cost") -> None:
    """Raise OptionError if a mean cost is not a finite number above 0."""
    if not (np.isfinite(cost) and cost > 0):
        raise OptionError(option, cost, "a finite number above 0")


class WindowTrace:
    """The tuples that the server took and the results that it delivered, each with its time."""

    __slots__ = ("left", "results")

    def __init__(self) -> None:
        self.left: list[tuple[float, WindowTuple]] = []
        """The tuples and marks that left the queue."""
        self.results: list[tuple[float, WindowResult]] = []


class WindowSubscriber:
    """A queue of windows, and one server that aggregates them.

    A tuple takes a cost for each window that it updates (the report's C_t, and its "no
    optimizations concerning the window computation"); a mark without a tuple takes none. The result
    of a window is delivered when its last tuple is done. `is_logged` keeps the events in `trace`.
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
        is_logged: bool = False,
    ) -> None:
        self.name = name
        self.queue = queue
        self.aggregate = Aggregate("count")
        self.servers = 1
        self.log = None
        self.trace = WindowTrace() if is_logged else None
        self._loop = loop
        self.bell: Bell = loop.bell()
        """Idle servers sleep here until something arrives."""
        self._costs = costs

    def serve(self) -> Process:
        """Take tuples, aggregate them, and deliver results, without end."""
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


MAX_SERVERS: Final = 10_000


class Subscriber:
    """A queue of updates and its servers.

    `costs` has the cost of each service. `is_logged` keeps every event in `log`; `sink` takes the
    events instead, if it is given.
    """

    __slots__ = (
        *("_costs", "bell", "_loop", "latencies", "log", "mean_cost", "name"),
        *("queue", "_rejected", "servers", "sink"),
    )

    def __init__(
        self,
        name: str,
        queue: StreamQueue,
        loop: EventLoop,
        *,
        costs: Costs,
        mean_cost: float,
        servers: int = 1,
        is_logged: bool = False,
        sink: EventSink | None = None,
    ) -> None:
        if not 1 <= servers <= MAX_SERVERS:
            raise OptionError("servers", servers, f"a number from 1 to {MAX_SERVERS:,}")
        self.name = name
        self.queue = queue
        self.mean_cost = mean_cost
        self.servers = servers
        self.latencies = array("d")
        """For each update delivered, the time since it arrived."""
        self.log = EventLog() if is_logged else None
        self.sink = self.log if sink is None else sink
        """Takes the events; None if they are not needed."""
        self._rejected = 0
        self._loop = loop
        self.bell: Bell = loop.bell()
        """Idle servers sleep here until something arrives."""
        self._costs = costs

    def note_arrival(self, key: Key, number: int) -> None:
        """Note in the sink, which must exist, that an update arrived or was rejected."""
        assert self.sink is not None
        kind = EventKind.ARRIVAL
        if self.queue.capacity is not None:
            rejected = self.queue.statistics().rejected
            if rejected > self._rejected:
                kind = EventKind.REJECTED
            self._rejected = rejected
        self.sink.note(self._loop.now, kind, key, number)

    def serve(self) -> Process:
        """Take updates, process them and deliver them, without end: one server."""
        loop, log = self._loop, self.sink
        dequeue, deliver, work_for = self.queue.dequeue, self.queue.deliver, loop.work_for
        next_cost, note_latency = self._costs.__next__, self.latencies.append
        while True:
            update = dequeue()
            if update is None:
                yield self.bell.wait()
                continue
            if log is not None:
                log.note(loop.now, EventKind.DEQUEUE, update.key, _number(update.value))
            yield work_for(next_cost())
            deliver(update)
            now = loop.now
            note_latency(now - update.time)
            if log is not None:
                log.note(now, EventKind.DELIVERY, update.key, _number(update.value))


AnySubscriber = Subscriber | WindowSubscriber


def _number(value: object) -> int:
    assert isinstance(value, int), "the value of a simulated update is its number"
    return value
