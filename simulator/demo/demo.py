"""The demo: one feed, one stream, a queue of each policy, and a consumer of equal speed for each.

`Demo` does what is due by its clock and reports what the queues measured. It never waits, so the
tests drive it with a `ManualClock`; `real_time.py` runs it by the system's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from upstream import Clock, QueueStatistics, Stream, StreamQueue, make_queue
from upstream.staleness import AgainstBound, against_bound, observed_seconds

from .consumer import Consumer
from .zipf_feed import ZipfFeed

SHOWN_POLICIES: Final = ("append", "adaptive", "fifo", "in-place", "linecutting", "index")
UPDATES_PER_SECOND: Final = 2_000.0


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """What is fed, and how fast it is consumed: `load` times slower."""

    keys: int = 100
    theta: float = 1.0
    load: float = 5.0
    seed: int = 1
    updates_per_second: float = UPDATES_PER_SECOND

    @property
    def processing_cost(self) -> float:
        """The seconds that a consumer needs for one update."""
        return self.load / self.updates_per_second


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """What one queue has measured so far; staleness in seconds, averaged since the start."""

    policy: str
    queue_staleness: float
    application_staleness: float
    queue_lower_bound: float | None
    """The lower bound expected under memoryless arrivals; None while not known."""
    application_lower_bound: float | None
    worst_key: str | None
    """The key with the largest queue staleness."""
    worst_queue_staleness: float
    observed: float
    """For how many seconds staleness was measured."""
    statistics: QueueStatistics

    @property
    def against_bound(self) -> AgainstBound:
        """How the queue staleness compares with its bound."""
        return against_bound(self.queue_staleness, self.queue_lower_bound, observed=self.observed)

    @property
    def times_the_bound(self) -> float | None:
        """The queue staleness over its bound; None where that is zero, not known, or too early."""
        return self.against_bound.times

    @property
    def skipped(self) -> int:
        """How many updates were counted without ever being served."""
        counted = self.statistics
        return counted.superseded + counted.late + counted.expired + counted.shed + counted.rejected


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What all queues have measured so far."""

    elapsed: float
    arrived: int
    policies: tuple[PolicyReport, ...]

    def of(self, policy: str) -> PolicyReport:
        """Return the report of one policy."""
        return next(report for report in self.policies if report.policy == policy)


class Demo:
    """Feed the queues and let their consumers work, as far as the clock has come.

    >>> from upstream import ManualClock
    >>> clock = ManualClock()
    >>> demo = Demo(DemoSettings(keys=10), clock)
    >>> while demo.next_due() < 1.0:
    ...     clock.set(demo.next_due())
    ...     demo.catch_up()
    >>> report = demo.report()
    >>> report.of("index").queue_staleness < report.of("append").queue_staleness
    True
    """

    __slots__ = ("_arrival", "_clock", "_consumers", "_feed", "_start", "_stream")

    def __init__(self, settings: DemoSettings, clock: Clock) -> None:
        self._clock = clock
        self._feed = iter(
            ZipfFeed(
                keys=settings.keys,
                theta=settings.theta,
                updates_per_second=settings.updates_per_second,
                seed=settings.seed,
            )
        )
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
        """Return when `catch_up` will have something to do again."""
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
        """Return what the queues have measured until now. O(keys)."""
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
    by_key = {row.key: row.queue_staleness for row in rows}
    worst_key = max(by_key, key=lambda key: by_key[key], default=None)
    return PolicyReport(
        policy=policy,
        queue_staleness=queue.queue_staleness(),
        application_staleness=queue.application_staleness(),
        queue_lower_bound=queue.lower_bound("queue"),
        application_lower_bound=queue.lower_bound("application"),
        worst_key=None if worst_key is None else str(worst_key),
        worst_queue_staleness=0.0 if worst_key is None else by_key[worst_key],
        observed=observed_seconds(rows),
        statistics=queue.statistics(),
    )
