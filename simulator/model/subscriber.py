"""A subscriber: a queue, the servers that take from it, and what is noted while they do.

The application has what a server has finished at that moment. What a server has taken is in process
until then; it is never interrupted.
"""

from __future__ import annotations

from array import array
from typing import Final

from upstream import Key, StreamQueue
from upstream.events import EventKind, EventSink

from ..errors import OptionError
from ..kernel.event_loop import Bell, EventLoop, Process
from .event_log import EventLog
from .processing_costs import Costs
from .window_subscriber import WindowSubscriber

MAX_SERVERS: Final = 10_000


class Subscriber:
    """A queue of updates and its servers.

    `costs` has what each service takes. `is_logged` keeps every event in `log`; `sink` takes them
    instead, if it is given.
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
        """What takes the events, None if nobody wants them."""
        self._rejected = 0
        self._loop = loop
        self.bell: Bell = loop.bell()
        """Where idle servers sleep until something arrives."""
        self._costs = costs

    def note_arrival(self, key: Key, number: int) -> None:
        """Tell the sink, which there is, that an update arrived just now, or found no room."""
        assert self.sink is not None
        kind = EventKind.ARRIVAL
        if self.queue.capacity is not None:
            rejected = self.queue.statistics().rejected
            if rejected > self._rejected:
                kind = EventKind.REJECTED
            self._rejected = rejected
        self.sink.note(self._loop.now, kind, key, number)

    def serve(self) -> Process:
        """Take updates, process and deliver them, for ever: one server."""
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
