"""The demo: one feed, one stream, a queue of each policy, and a consumer of equal speed for each.

`Demo` does what is due by its clock and reports what the queues measured. It never waits, so the
tests drive it with a `ManualClock`; `run_in_real_time` sleeps until something is due and shows the
state now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from upstream import Clock, QueueStatistics, Stream, StreamQueue, Update, make_queue
from upstream.staleness import observed_seconds

from ..model.measures import Staleness
from ..workloads.sources import Poisson
from ..workloads.workload import zipf

SHOWN_POLICIES: Final = ("append", "adaptive", "fifo", "in-place", "linecutting", "index")
UPDATES_PER_SECOND: Final = 2_000.0


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The feed, and the speed of the consumers, which are `load` times slower than it."""

    keys: int = 100
    theta: float = 1.0
    load: float = 5.0
    seed: int = 1
    updates_per_second: float = UPDATES_PER_SECOND

    @property
    def processing_cost(self) -> float:
        """The seconds that a consumer needs for one update."""
        return self.load / self.updates_per_second


class Arrival(NamedTuple):
    """One update of the feed."""

    due_seconds: float
    """When it arrives, counted from the start of the feed."""
    key: str
    value: int
    """How many updates came before it."""


def zipf_feed(settings: DemoSettings) -> Iterator[Arrival]:
    """Yield updates whose keys follow Zipf's law, without end; the same for the same settings.

    Arrivals are memoryless. `key-1` is the busiest; the numbers have equal lengths.
    """
    digits = len(str(settings.keys))
    names = [f"key-{rank:0{digits}}" for rank in range(1, settings.keys + 1)]
    arrivals = Poisson(zipf(settings.keys, settings.theta)).arrivals
    value = 0
    for times, ranks in arrivals(np.random.default_rng(settings.seed)):
        dues = times / settings.updates_per_second
        for due, rank in zip(dues.tolist(), ranks.tolist(), strict=True):
            yield Arrival(due, names[rank], value)
            value += 1


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """The measurements of one queue so far; staleness is in seconds, averaged since the start."""

    policy: str
    queue: Staleness
    application: Staleness
    statistics: QueueStatistics

    @property
    def skipped(self) -> int:
        """How many updates were counted without ever being served."""
        counted = self.statistics
        return counted.superseded + counted.late + counted.expired + counted.shed + counted.rejected


@dataclass(frozen=True, slots=True)
class DemoReport:
    """The measurements of all queues so far."""

    elapsed: float
    arrived: int
    policies: tuple[PolicyReport, ...]

    def of(self, policy: str) -> PolicyReport:
        """Return the report of one policy."""
        return next(report for report in self.policies if report.policy == policy)


class Demo:
    """Feeds the queues and lets their consumers work, until the time that the clock shows.

    >>> from upstream import ManualClock
    >>> clock = ManualClock()
    >>> demo = Demo(DemoSettings(keys=10), clock)
    >>> while demo.next_due() < 1.0:
    ...     clock.set(demo.next_due())
    ...     demo.catch_up()
    >>> report = demo.report()
    >>> report.of("index").queue.mean < report.of("append").queue.mean
    True
    """

    __slots__ = ("_arrival", "_clock", "_consumers", "_feed", "_start", "_stream")

    def __init__(self, settings: DemoSettings, clock: Clock) -> None:
        self._clock = clock
        self._feed = zipf_feed(settings)
        self._arrival = next(self._feed)
        self._stream = Stream(clock=clock)
        self._consumers: dict[str, Consumer] = {}
        for policy in SHOWN_POLICIES:
            queue = make_queue(policy, processing_cost=settings.processing_cost)
            self._stream.attach(queue)
            self._consumers[policy] = Consumer(queue, processing_cost=settings.processing_cost)
        self._start = clock.now()

    @property
    def clock(self) -> Clock:
        """The clock by which everything here happens and is measured."""
        return self._clock

    @property
    def start(self) -> float:
        """When the feed started, by the clock."""
        return self._start

    def next_due(self) -> float:
        """Return the time at which `catch_up` will have something to do again."""
        first_ready = min(consumer.due for consumer in self._consumers.values())
        return min(self._start + self._arrival.due_seconds, first_ready)

    def catch_up(self) -> None:
        """Do everything that is due, in the order in which it fell due."""
        now = self._clock.now()
        while (due := self.next_due()) <= now:
            for consumer in self._consumers.values():
                if consumer.due <= due:
                    consumer.finish()
            if self._start + self._arrival.due_seconds <= due:
                self._take_in_arrival()

    def report(self) -> DemoReport:
        """Return the measurements of the queues until now. O(keys)."""
        return DemoReport(
            elapsed=self._clock.now() - self._start,
            arrived=self._stream.statistics().arrived,
            policies=tuple(
                _report_on(policy, consumer.queue) for policy, consumer in self._consumers.items()
            ),
        )

    def _take_in_arrival(self) -> None:
        self._stream.enqueue(self._arrival.key, self._arrival.value)
        due = self._start + self._arrival.due_seconds
        for consumer in self._consumers.values():
            if consumer.is_idle:
                consumer.start(due)
        self._arrival = next(self._feed)


def _report_on(policy: str, queue: StreamQueue) -> PolicyReport:
    rows = queue.key_staleness()
    observed = observed_seconds(rows)
    by_key = {row.key: row.queue_staleness for row in rows}
    of_application = {row.key: row.application_staleness for row in rows}
    return PolicyReport(
        policy=policy,
        queue=Staleness(by_key, queue.lower_bound("queue"), observed),
        application=Staleness(of_application, queue.lower_bound("application"), observed),
        statistics=queue.statistics(),
    )


NEVER = math.inf


class Consumer:
    """A consumer of fixed speed: it takes one update after another, `processing_cost` seconds each.

    No work is done in that time. `due` is the time when the update in hand is ready. A consumer
    that is called late is not slowed down by it: the next update counts from the time when this
    one was due. The queue sees the clock's times.

    >>> from upstream import ManualClock, UpdateQueue, InPlaceScheduler
    >>> clock = ManualClock()
    >>> queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    >>> consumer = Consumer(queue, processing_cost=2.0)
    >>> _ = queue.enqueue("IBM", 24.0)
    >>> consumer.start(clock.now())
    >>> consumer.due
    2.0
    """

    __slots__ = ("_in_hand", "_processing_cost", "due", "queue")

    def __init__(self, queue: StreamQueue, *, processing_cost: float) -> None:
        self.queue = queue
        self._processing_cost = processing_cost
        self._in_hand: Update | None = None
        self.due = NEVER

    @property
    def is_idle(self) -> bool:
        """Whether it waits for an update."""
        return self._in_hand is None

    def start(self, now: float) -> None:
        """Take the next update, if there is one, at the time `now`."""
        assert self._in_hand is None, "a consumer that is busy"
        self._in_hand = self.queue.dequeue()
        self.due = NEVER if self._in_hand is None else now + self._processing_cost

    def finish(self) -> None:
        """Deliver the update in hand, and take the next one."""
        assert self._in_hand is not None, "a consumer that has nothing in hand"
        self.queue.deliver(self._in_hand)
        self._in_hand = None
        self.start(self.due)


MOST_OF_THE_TIME_SHOWING: Final = 0.1
"""The share of time for showing, during which nothing is fed or consumed."""


def run_in_real_time(
    demo: Demo,
    *,
    seconds: float,
    show: Callable[[DemoReport], None],
    seconds_between_shows: float,
    sleep: Callable[[float], None],
    should_stop: Callable[[], bool],
) -> DemoReport:
    """Run for `seconds`, or until `should_stop()`, and return the last report.

    Delays by `show` or by a busy machine are caught up with at once. If showing takes long, as it
    does with many keys, it is done less often.
    """
    clock = demo.clock
    end = demo.start + seconds
    next_show = demo.start + min(seconds_between_shows, seconds)
    while (now := clock.now()) < end and not should_stop():
        demo.catch_up()
        if now >= next_show:
            show(demo.report())
            took = clock.now() - now
            next_show = now + max(seconds_between_shows, took / MOST_OF_THE_TIME_SHOWING)
        wait = min(demo.next_due(), next_show, end) - clock.now()
        if wait > 0:
            sleep(wait)
    demo.catch_up()
    return demo.report()
