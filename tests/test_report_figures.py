"""The report's own figures and inequalities: Figure 2, Figure 6 (b) and (c), section 5.1."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from upstream import (
    SCHEDULERS,
    AppendQueue,
    FifoScheduler,
    InPlaceScheduler,
    ManualClock,
    Scheduler,
    StreamQueue,
    Update,
    UpdateQueue,
)

# Figure 2: one key, an arrival every 2, a cost of 3, and a consumer that never pauses. An arrival
# comes before a delivery at the same instant. Each line is (before, after) at times 0, 1, 2, ...

Line = list[tuple[float, float]]


def steady(*values: float | tuple[float, float]) -> Line:
    """Return a timeline in which a plain number stands for no jump at that time."""
    return [value if isinstance(value, tuple) else (value, value) for value in values]


def measure(queue: StreamQueue, clock: ManualClock, end: int) -> tuple[str, Line, Line]:
    """Run Figure 2; return what was delivered, and the area of each staleness by unit of time.

    The area of a unit in which staleness grows from `s` is `s + 1/2`, and 0 in one without.
    """
    areas: tuple[Line, Line] = ([], [])
    before = (0.0, 0.0)
    delivered = ""
    in_process: Update | None = None
    done_at = 0
    for now in range(end + 1):
        after = (queue.queue_staleness() * now, queue.application_staleness() * now)
        for line, old, new in zip(areas, before, after, strict=True):
            line.append((old, new))
        before = after
        if now % 2 == 0:
            queue.enqueue("k", "abcdefghijklmnop"[now // 2], time=now)
        if in_process is not None and now == done_at:
            queue.deliver(in_process)
            delivered += str(in_process.value)
            in_process = None
        if in_process is None and (in_process := queue.dequeue()) is not None:
            done_at = now + 3
        clock.advance(1.0)
    return delivered, areas[0], areas[1]


def assert_areas(measured: Line, drawn: Line) -> None:
    """Compare with the trapezia under the drawn line, unit by unit and therefore event by event."""
    for now in range(1, len(drawn)):
        area = (drawn[now - 1][1] + drawn[now][0]) / 2.0
        old, new = measured[now]
        assert new - old == pytest.approx(area, abs=1e-9), f"between {now - 1} and {now}"


@pytest.mark.parametrize("make_scheduler", SCHEDULERS.values())
def test_figure_2_with_an_update_queue(make_scheduler: Callable[[], Scheduler]) -> None:
    # time         0     2  3  4     6     8  9 10    12
    # arrivals     a     b     c     d     e     f     g
    # processing   |---a----|---b----|---d----|---e----|   c and f are superseded
    # delivered             a'       b'       d'       e'
    # application  0  1  2  3
    #                       1  2  3  4                     b came at 2
    #                                2  3  4  5            c came at 4, although it is never seen
    #                                         1  2  3  4   e came at 8
    #                                                  2   f came at 10
    # queue        0     0  1
    #                       0  0  1  2                     c, then d in its place
    #                                0     0  1            e
    #                                         0  0  1  2   f, then g
    application = steady(0, 1, 2, (3, 1), 2, 3, (4, 2), 3, 4, (5, 1), 2, 3, (4, 2))
    queued = steady(0, 0, 0, (1, 0), 0, 1, (2, 0), 0, 0, (1, 0), 0, 1, (2, 0))
    clock = ManualClock()
    queue = UpdateQueue(make_scheduler(), clock=clock)
    delivered, queue_areas, application_areas = measure(queue, clock, end=12)
    assert delivered == "abde"
    assert_areas(queue_areas, queued)
    assert_areas(application_areas, application)
    statistics = queue.statistics()
    assert (statistics.arrived, statistics.superseded, statistics.delivered) == (7, 2, 4)


def test_figure_2_with_an_append_queue() -> None:
    # time         0     2  3  4     6     8  9 10    12    14 15
    # arrivals     a     b     c     d     e     f     g     h
    # processing   |---a----|---b----|---c----|---d----|---e----|
    # delivered             a'       b'       c'       d'       e'
    # application  0  1  2  3
    #                       1  2  3  4                            b came at 2
    #                                2  3  4  5                   c came at 4
    #                                         3  4  5  6          d came at 6
    #                                                  4  5  6  7 e came at 8; 5 at 15
    # queue        0     0  1
    #                       0  0  1  2                            c waits from 4
    #                                0  1  2  3                   d waits from 6
    #                                         1  2  3  4          e waits from 8
    #                                                  2  3  4  5 f waits from 10; 3 at 15
    application = steady(
        *(0, 1, 2, (3, 1), 2, 3, (4, 2), 3, 4, (5, 3), 4, 5, (6, 4), 5, 6, (7, 5)),
    )
    queued = steady(
        *(0, 0, 0, (1, 0), 0, 1, (2, 0), 1, 2, (3, 1), 2, 3, (4, 2), 3, 4, (5, 3)),
    )
    clock = ManualClock()
    queue = AppendQueue(clock=clock)
    delivered, queue_areas, application_areas = measure(queue, clock, end=15)
    assert delivered == "abcde"
    assert_areas(queue_areas, queued)
    assert_areas(application_areas, application)
    assert queue.statistics().superseded == 0


# Figure 6: IBM updates a second time while it waits.

FIGURE_6 = [("IBM", "IBM1"), ("ORCL", "ORCL1"), ("MSFT", "MSFT1"), ("IBM", "IBM2")]


@pytest.mark.parametrize(
    ("queue", "served"),
    [
        (AppendQueue(clock=ManualClock()), ["IBM1", "ORCL1", "MSFT1", "IBM2"]),
        (UpdateQueue(FifoScheduler(), clock=ManualClock()), ["ORCL1", "MSFT1", "IBM2"]),
        (UpdateQueue(InPlaceScheduler(), clock=ManualClock()), ["IBM2", "ORCL1", "MSFT1"]),
    ],
    ids=["a: append", "b: FIFO", "c: IN-PLACE"],
)
def test_figure_6(queue: StreamQueue, served: list[str]) -> None:
    for key, value in FIGURE_6:
        queue.enqueue(key, value)
    assert [update.value for update in queue.snapshot()] == served
    assert [update.value for update in queue.dequeue_many(9)] == served


# Section 5.1: wait * cost <= Δ <= wait * cost + cost² / 2, for each key and on average per update.


@dataclass
class Server:
    """Serve a queue at a constant cost, and note how long keys wait by looking from outside."""

    queue: StreamQueue
    clock: ManualClock
    cost: float
    waiting_since: dict[object, float] = field(default_factory=dict)
    first_arrival: dict[object, float] = field(default_factory=dict)
    waits: dict[object, list[float]] = field(default_factory=lambda: defaultdict(list))
    in_process: Update | None = None
    done_at: float = 0.0

    def enqueue(self, key: object, now: float) -> None:
        self.work_until(now)
        self.clock.set(now)
        self.queue.enqueue(key, now)
        self.waiting_since.setdefault(key, now)
        self.first_arrival.setdefault(key, now)
        if self.in_process is None:
            self.start()

    def start(self) -> None:
        self.in_process = self.queue.dequeue()
        if self.in_process is not None:
            key, now = self.in_process.key, self.clock.now()
            self.waits[key].append(now - self.waiting_since.pop(key))
            self.done_at = now + self.cost

    def work_until(self, now: float) -> None:
        while self.in_process is not None and self.done_at <= now:
            self.clock.set(self.done_at)
            self.queue.deliver(self.in_process)
            self.start()


@pytest.mark.parametrize("make_scheduler", SCHEDULERS.values())
@pytest.mark.parametrize(("keys", "load"), [(1, 0.5), (1, 5.0), (10, 0.8), (10, 4.0)])
def test_application_staleness_exceeds_queue_staleness_as_section_5_1_says(
    make_scheduler: Callable[[], Scheduler], keys: int, load: float
) -> None:
    cost = 0.5
    seeded = random.Random(11)
    clock = ManualClock()
    server = Server(UpdateQueue(make_scheduler(), clock=clock), clock, cost)
    now = 0.0
    for _ in range(2_000):
        now += seeded.expovariate(load / cost)
        server.enqueue(min(int(seeded.paretovariate(0.8)), keys), now)
    server.work_until(now + keys * 2 * cost)
    assert len(server.queue) == 0
    assert server.in_process is None

    queued = server.queue.staleness_by_key("queue")
    application = server.queue.staleness_by_key("application")
    has_overlap = False
    for key, waits in server.waits.items():
        lifetime = clock.now() - server.first_arrival[key]
        wait = sum(waits) / len(waits)
        difference = (application[key] - queued[key]) * lifetime / len(waits)
        tolerance = 1e-6 * (1.0 + wait)
        assert difference >= wait * cost - tolerance
        assert difference <= wait * cost + cost * cost / 2.0 + tolerance
        has_overlap = has_overlap or difference < wait * cost + cost * cost / 2.0 - tolerance
        area = sum(waited * waited for waited in waits) / 2.0
        assert queued[key] * lifetime == pytest.approx(area)
    assert has_overlap, "a run without any overlap O would show the upper bound only"
