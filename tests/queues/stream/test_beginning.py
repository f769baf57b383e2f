"""A queue that is attached takes over the newest values, in the order of their arrival."""

from __future__ import annotations

import math

import pytest

from upstream import (
    TOMBSTONE,
    FifoScheduler,
    ManualClock,
    ParameterError,
    Stream,
    UpdateQueue,
)
from upstream.queues.log.shared_log import LogEntry
from upstream.queues.stream.beginning import oldest_to_take_over


def newest_entries(stream: Stream, since: float) -> list[LogEntry]:
    feed = stream._feed
    return [feed.entry_of(cell) for cell in feed.newest_cells(since)]


def test_the_newest_values_of_a_stream_come_in_the_order_of_their_arrival() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    for key in ("A", "B", "C", "A"):
        stream.enqueue(key, key)
        clock.advance(1.0)
    entries = newest_entries(stream, 0.0)
    assert [(entry.value, entry.arrival) for entry in entries] == [
        ("B", 1.0),
        ("C", 2.0),
        ("A", 3.0),
    ]
    assert [entry.value for entry in newest_entries(stream, 2.0)] == ["C", "A"]
    stream.enqueue("C", TOMBSTONE)
    assert [entry.value for entry in newest_entries(stream, 2.0)] == ["A"]


def test_nothing_is_taken_over_unless_a_snapshot_is_asked_for() -> None:
    assert oldest_to_take_over(None, snapshot=False) is None
    assert oldest_to_take_over(None, snapshot=True) == -math.inf
    assert oldest_to_take_over(3, snapshot=True) == 3.0
    for since, snapshot in ((3.0, False), (math.nan, True), ("now", True)):
        with pytest.raises(ParameterError, match="since"):
            oldest_to_take_over(since, snapshot=snapshot)


def test_fifo_serves_keys_that_were_taken_over_and_given_back_by_their_arrivals() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    for key in "AB":
        stream.enqueue(key, key)
        clock.advance(0.25)
    queue = UpdateQueue(FifoScheduler())
    stream.attach(queue, snapshot=True)
    first, second = queue.dequeue_many(2)
    queue.give_back(second)
    queue.give_back(first)
    assert queue.snapshot() == [first, second]
    assert queue.peek() == first
    queue._check()
