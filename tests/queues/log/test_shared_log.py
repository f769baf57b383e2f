"""The shared log keeps what its slowest reader has not read, and nothing else."""

from __future__ import annotations

import gc
import weakref

from upstream import AdaptiveQueue, ManualClock, Stream
from upstream.keys import KeyCell
from upstream.queues.log.shared_log import LogEntry, SharedLog

CELL = KeyCell("A", 0, time=0.0, arrival=0.0)


class Reader:
    """Reads when it is told to."""

    def __init__(self, log: SharedLog, read_ahead: int | None = None) -> None:
        self.log = log
        self.position = 0
        self.read_ahead = read_ahead
        self.seen: list[object] = []

    def settle(self) -> None:
        self.seen += [entry.value for entry in self.log.read(self)]


class Value:
    """Something that a weak reference can refer to."""


def entry(value: object) -> LogEntry:
    return LogEntry(CELL, value, time=0.0, arrival=0.0, version=1)


def test_each_reader_reads_every_entry_once_and_in_order() -> None:
    log = SharedLog()
    fast, slow = Reader(log), Reader(log)
    log.open(fast)
    log.open(slow)
    for value in range(5):
        log.append(entry(value))
        fast.settle()
        log._check()
    slow.settle()
    slow.settle()
    assert fast.seen == slow.seen == [0, 1, 2, 3, 4]
    assert len(log) == 0
    assert log.end == 5


def test_a_reader_reads_the_entries_after_its_opening() -> None:
    log = SharedLog()
    first = Reader(log)
    log.open(first)
    log.append(entry("before"))
    late = Reader(log)
    log.open(late)
    log.append(entry("after"))
    late.settle()
    first.settle()
    assert late.seen == ["after"]
    assert first.seen == ["before", "after"]


def test_the_log_holds_at_most_twice_what_the_slowest_reader_has_not_read() -> None:
    log = SharedLog()
    fast, slow = Reader(log), Reader(log)
    log.open(fast)
    log.open(slow)
    for value in range(100):
        log.append(entry(value))
    slow.settle()
    for value in range(100):
        log.append(entry(value))
        fast.settle()
        assert len(log) <= 2 * (log.end - min(fast.position, slow.position))


def test_a_slow_reader_that_leaves_frees_what_only_it_had_not_read() -> None:
    log = SharedLog()
    fast, slow = Reader(log), Reader(log)
    log.open(fast)
    log.open(slow)
    value = Value()
    reference = weakref.ref(value)
    log.append(entry(value))
    del value
    list(log.read(fast))
    assert reference() is not None
    log.close(slow)
    gc.collect()
    assert reference() is None
    assert len(log) == 0


def test_a_reader_that_bounds_what_is_unread_is_made_to_read() -> None:
    log = SharedLog()
    bounded, unbounded = Reader(log, read_ahead=3), Reader(log)
    log.open(bounded)
    log.open(unbounded)
    for value in range(7):
        log.append(entry(value))
        assert log.end - bounded.position < 3
    assert bounded.seen == [0, 1, 2, 3, 4, 5]
    assert unbounded.seen == []


def test_readers_that_read_at_once_leave_nothing_behind() -> None:
    stream = Stream(clock=ManualClock(), forget_after=9.0)
    queues = [AdaptiveQueue() for _ in range(5)]
    for queue in queues:
        stream.attach(queue)
    for number in range(7):
        stream.enqueue(number, number)
    log = stream._intake.log
    assert log is not None
    log._check()
    assert len(log) == 0
    assert [len(queue) for queue in queues] == [7] * 5


def test_the_log_ends_with_its_last_reader() -> None:
    log = SharedLog()
    reader = Reader(log)
    log.open(reader)
    assert log.has_readers
    log.append(entry(1))
    log.close(reader)
    assert not log.has_readers
    assert len(log) == 0
    log._check()
