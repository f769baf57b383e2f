"""A simulation: one workload, and the subscribers whose queues it feeds.

```
 workload ──▶ feed: at its time, each arrival ──▶ enqueue ──▶ the queue, or a Stream with several
                                                      │
                                                      └─ wakes servers that are idle
 servers ──▶ dequeue ──▶ the processing cost passes ──▶ deliver
```

Feed and servers are processes of an event loop; the queues are the library's, on the loop's clock.
Everything random is drawn from one seed, arrivals and costs each from a stream of their own, so
that all policies see the same arrivals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np

from upstream import Key, MemoryUsage, Stream, StreamQueue, WindowedQueue, staleness_lower_bound
from upstream.events import EventSink

from ..errors import OptionError
from ..kernel.event_loop import EventLoop, PlainLoop, Process, SimPyLoop, SimulationClock
from ..workloads.workload import KnownFromStart, Workload
from .measures import Mark, Measures, Spread, Staleness, mean_since
from .subscriber import (
    COST_DISTRIBUTIONS,
    AnySubscriber,
    Costs,
    Subscriber,
    WindowSubscriber,
    check_cost,
)

LOOPS: Final[dict[str, Callable[[], EventLoop]]] = {"simpy": SimPyLoop, "plain": PlainLoop}
"""The event loops by name."""

LENGTH_SAMPLES: Final = 200
"""About the least number of samples of queue lengths in a run; there are at most twice as many."""
MAX_SEED: Final = 2**32 - 1


class Enqueue(Protocol):
    """The method of a stream or queue that takes updates in."""

    def __call__(self, key: Key, value: object, time: float | None = None) -> object:
        """Enqueue one update."""
        ...


def with_key_times(enqueue: Enqueue) -> Callable[[Key, object], object]:
    """Return a function that enqueues the updates of a key at source times 0, 1, 2, and so on."""
    times: Counter[Key] = Counter()

    def enqueue_next(key: Key, value: object) -> object:
        times[key] += 1
        return enqueue(key, value, float(times[key] - 1))

    return enqueue_next


class Simulation:
    """A workload on an event loop: add subscribers, run it, and read their measurements.

    >>> from simulator.workloads.workload import zipf
    >>> from simulator.workloads.sources import Poisson
    >>> from upstream import make_queue
    >>> simulation = Simulation(Poisson(zipf(100, 0.9)), seed=1)
    >>> index = simulation.add("index", make_queue("index", clock=simulation.clock), cost=5.0)
    >>> simulation.run(updates=10_000)
    >>> measured = simulation.measures(index)
    >>> measured.counted.arrived, measured.queue.mean < measured.application.mean
    (10000, True)
    """

    def __init__(
        self,
        workload: Workload,
        *,
        seed: int = 1,
        loop: str = "simpy",
        has_key_times: bool = False,
    ) -> None:
        if loop not in LOOPS:
            raise OptionError("loop", loop, " or ".join(LOOPS))
        if not 0 <= seed <= MAX_SEED:
            raise OptionError("seed", seed, f"a number from 0 to {MAX_SEED}")
        self.workload = workload
        self.seed = seed
        self.on_sample: Callable[[float], None] | None = None
        """Called with the time whenever queue lengths are sampled, to show progress."""
        self.arrived = 0
        """How many updates have arrived so far."""
        self._loop = LOOPS[loop]()
        self.clock = SimulationClock(self._loop)
        """The clock that the queues are to be made with."""
        self._subscribers: list[AnySubscriber] = []
        self._lengths: dict[AnySubscriber, list[tuple[float, int]]] = {}
        self._enqueue: Callable[[Key, int], object] | None = None
        self._has_key_times = has_key_times
        """Whether the source time of a key is the number of its updates: 0, 1, 2, and so on."""
        self._arrivals = self._drawn()

    @property
    def now(self) -> float:
        """The simulated time."""
        return self._loop.now

    @property
    def rates(self) -> dict[Key, float]:
        """The mean update rate of each key."""
        return dict(zip(self.workload.keys, self.workload.rates.tolist(), strict=True))

    def add(
        self,
        name: str,
        queue: StreamQueue,
        *,
        cost: float,
        cost_distribution: str = "fixed",
        servers: int = 1,
        is_logged: bool = False,
        sink: EventSink | None = None,
    ) -> Subscriber:
        """Add a queue of updates with its servers, before the run; the load is `cost / servers`.

        The queue must have the simulation's clock. Queues that are fed together share their rates:
        make either all of them or none of them with the true `rates`.
        """
        assert self._enqueue is None, "the run has begun"
        subscriber = Subscriber(
            name,
            queue,
            self._loop,
            costs=self._costs(cost, cost_distribution),
            mean_cost=cost,
            servers=servers,
            is_logged=is_logged,
            sink=sink,
        )
        self._subscribers.append(subscriber)
        return subscriber

    def add_windows(
        self, name: str, queue: WindowedQueue[Any], *, cost: float, is_logged: bool = False
    ) -> WindowSubscriber:
        """Add a queue of windows and its server; `cost` is that of a tuple in one window."""
        assert self._enqueue is None, "the run has begun"
        costs = self._costs(cost, "fixed")
        subscriber = WindowSubscriber(name, queue, self._loop, costs=costs, is_logged=is_logged)
        self._subscribers.append(subscriber)
        return subscriber

    def run(self, updates: int) -> None:
        """Let `updates` updates arrive, or all that there are, and stop with the last of them.

        Another call continues the run.
        """
        if updates < 1:
            raise OptionError("updates", updates, "a number above 0")
        self._start(updates)
        self._loop.run(self._feed(updates))

    def run_on(self, until: float) -> None:
        """Let the servers continue until a time, while nothing arrives.

        Arrivals that a later `run` draws for that time arrive as soon as it begins.
        """
        assert until >= self.now, "a time that has passed"
        self._loop.run(self._wait(until - self._loop.now))

    def mark(self, subscriber: AnySubscriber) -> Mark:
        """Return the measurements so far, so that `measures` can leave them out as a warm-up.

        All keys must be known from the start (`KnownFromStart`), because staleness is averaged
        over the time from a key's first arrival on.
        """
        assert isinstance(self.workload, KnownFromStart), "keys that start at different times"
        by_key = subscriber.queue.staleness_by_key
        mark = Mark(
            self.now,
            queue=by_key("queue"),
            application=by_key("application"),
            latencies=len(_latencies(subscriber)),
        )
        assert len(mark.queue) == len(self.workload.keys), "a key whose first update was refused"
        return mark

    def measures(self, subscriber: AnySubscriber, *, since: Mark | None = None) -> Measures:
        """Return the measurements of a subscriber so far, or since a mark. O(keys).

        Counters and memory are those of the whole run in either case.
        """
        queue = subscriber.queue
        if isinstance(queue, StreamQueue):
            assert queue.stream.now() == self.now, "a queue that was made with another clock"
        by_key = {of: queue.staleness_by_key(of) for of in ("queue", "application")}
        if since is not None:
            by_key = {of: mean_since(since, of, means, self.now) for of, means in by_key.items()}
        latencies = _latencies(subscriber)[0 if since is None else since.latencies :]
        begin = 0.0 if since is None else since.now
        lengths = (sample for sample in self._lengths.get(subscriber, ()) if sample[0] >= begin)
        queue_bound, application_bound = (self._bound(subscriber, of) for of in by_key)
        observed = self.now - begin
        return Measures(
            name=subscriber.name,
            elapsed=self.now,
            queue=Staleness(by_key["queue"], queue_bound, observed),
            application=Staleness(by_key["application"], application_bound, observed),
            latency=Spread.of(np.array(latencies)),
            statistics=queue.statistics(),
            lengths=tuple(lengths),
            memory=_memory_usage(queue),
        )

    def _bound(self, subscriber: AnySubscriber, of: str) -> float | None:
        """Return the memoryless lower bound; it is not known for windows.

        N servers are at most as good as a single one that is N times faster, except for the time
        in which an update is processed.
        """
        if isinstance(subscriber, WindowSubscriber) or (of != "queue" and subscriber.servers > 1):
            return None
        cost = subscriber.mean_cost / subscriber.servers
        return staleness_lower_bound(self.workload.rates, cost, of=of)

    def _costs(self, mean: float, distribution: str) -> Costs:
        check_cost(mean)
        if distribution not in COST_DISTRIBUTIONS:
            raise OptionError("cost distribution", distribution, " or ".join(COST_DISTRIBUTIONS))
        seeds = [self.seed, 1, len(self._subscribers)]
        return COST_DISTRIBUTIONS[distribution](mean, np.random.default_rng(seeds))

    def _drawn(self) -> Iterator[tuple[float, Key]]:
        keys = self.workload.keys
        for times, codes in self.workload.arrivals(np.random.default_rng([self.seed, 0])):
            yield from zip(times.tolist(), map(keys.__getitem__, codes.tolist()), strict=True)

    def _start(self, updates: int) -> None:
        """Start the servers, once."""
        if self._enqueue is not None:
            return
        assert self._subscribers, "no subscribers to feed"
        enqueue = self._input()
        self._enqueue = with_key_times(enqueue) if self._has_key_times else enqueue
        for subscriber in self._subscribers:
            self._lengths[subscriber] = []
            for _ in range(subscriber.servers):
                self._loop.start(subscriber.serve())
        self._loop.start(self._sample_lengths(updates / LENGTH_SAMPLES))

    def _input(self) -> Enqueue:
        """Return the enqueue of the only queue, or of a stream with all queues."""
        if len(self._subscribers) == 1:
            return self._subscribers[0].queue.enqueue
        queues = [subscriber.queue for subscriber in self._subscribers]
        own = [queue.stream for queue in queues if isinstance(queue, StreamQueue)]
        are_informed = {stream.rates_are_given for stream in own}
        assert len(are_informed) <= 1, "rates that are given to some queues of a stream only"
        stream = Stream(clock=self.clock, rates=self.rates if True in are_informed else None)
        for subscriber in self._subscribers:
            stream.attach(subscriber.queue)
        return stream.enqueue

    def _feed(self, updates: int) -> Process:
        loop, enqueue, subscribers = self._loop, self._enqueue, self._subscribers
        assert enqueue is not None
        arrival_after = loop.arrival_after
        logged = [
            each for each in subscribers if isinstance(each, Subscriber) and each.sink is not None
        ]
        number = self.arrived
        end = number + updates
        previous = loop.now
        for time, key in self._arrivals:
            if time > previous:
                yield arrival_after(time - loop.now)
                previous = time
            enqueue(key, number)
            for each in logged:
                each.note_arrival(key, number)
            for subscriber in subscribers:
                if subscriber.bell.sleepers:
                    subscriber.bell.ring()
            number += 1
            if number == end:
                break
        self.arrived = number

    def _wait(self, delay: float) -> Process:
        yield self._loop.arrival_after(delay)

    def _sample_lengths(self, interval: float) -> Process:
        """Look at the queues once in each interval, which doubles when it proves too short.

        When in the interval is random: queues that are served in step with a clock would show
        the same phase every time.
        """
        random = np.random.default_rng([self.seed, 2])
        start = 0.0
        samples = 0
        while True:
            moment = start + interval * random.random()
            yield self._loop.arrival_after(max(0.0, moment - self._loop.now))
            start += interval
            samples += 1
            for subscriber in self._subscribers:
                self._lengths[subscriber].append((self._loop.now, len(subscriber.queue)))
            if self.on_sample is not None:
                self.on_sample(self._loop.now)
            if samples == 2 * LENGTH_SAMPLES:
                samples //= 2
                interval *= 2.0
                for lengths in self._lengths.values():
                    del lengths[::2]


def _latencies(subscriber: AnySubscriber) -> Sequence[float]:
    return subscriber.latencies if isinstance(subscriber, Subscriber) else ()


def _memory_usage(queue: StreamQueue | WindowedQueue[Any]) -> MemoryUsage | None:
    return queue.stream.memory_usage() if isinstance(queue, StreamQueue) else queue.memory_usage()
