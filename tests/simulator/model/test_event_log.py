"""The log of a run, and what it tells of a queue that sheds."""

from __future__ import annotations

from simulator.model.event_log import EventLog, noted_shedding
from simulator.model.policy_run import PolicyRun
from simulator.workloads.sources import Poisson
from simulator.workloads.workload import zipf
from upstream import ManualClock
from upstream.events import Event, EventKind

RUN = PolicyRun(
    policy="append-shedding",
    workload=Poisson(zipf(20, 0.9)),
    cost=4.0,
    updates=2_000,
    capacity=30,
    seed=3,
)


def test_events_are_in_the_order_in_which_they_were_noted_and_found_by_kind() -> None:
    log = EventLog()
    assert list(log) == []
    log.note(0.0, EventKind.ARRIVAL, "IBM", 0)
    log.note(0.0, EventKind.DEQUEUE, "IBM", 0)
    log.note(1.0, EventKind.ARRIVAL, "MSFT", 1)
    arrived, dequeued, other = log
    assert dequeued == Event(0.0, EventKind.DEQUEUE, "IBM", 0)
    assert log.of_kind(EventKind.ARRIVAL) == [arrived, other]


def test_a_shed_update_is_noted_right_after_the_arrival_that_caused_it() -> None:
    log, clock = EventLog(), ManualClock()
    queue, notes = noted_shedding(clock, log, capacity=2, seed=1)
    for number in range(20):
        queue.enqueue("key", number)
        notes.note(clock.now(), EventKind.ARRIVAL, "key", number)
        gone = {event.number for event in log.of_kind(EventKind.SHED)}
        assert [update.value for update in queue.snapshot()] == [
            arrived for arrived in range(number + 1) if arrived not in gone
        ]
    assert len(log.of_kind(EventKind.SHED)) == queue.statistics().shed == 18


def test_each_update_of_a_run_is_dequeued_or_shed_or_waits() -> None:
    log = EventLog()
    measured = RUN.measure(sink=log)
    fates = [*log.of_kind(EventKind.DEQUEUE), *log.of_kind(EventKind.SHED)]
    numbers = {event.number for event in fates}
    assert len(numbers) == len(fates) == RUN.updates - measured.counted.waiting
    assert len(log.of_kind(EventKind.SHED)) == measured.counted.shed > 1_000


def test_a_run_that_is_noted_does_what_one_does_that_is_not() -> None:
    assert RUN.measure(sink=EventLog()) == RUN.measure()
