"""A feed hands each update of a stream's log to its queue once, when the queue is looked at."""

from __future__ import annotations

import pytest

from upstream import TOMBSTONE, ManualClock, Stream
from upstream.queues.log_feed import LogFeed, newest_entries
from upstream.queues.shared_log import LogEntry


class Taken:
    """A queue that keeps what it takes."""

    def __init__(self) -> None:
        self.entries: list[LogEntry] = []

    def take(self, entry: LogEntry) -> None:
        self.entries.append(entry)


def test_what_was_enqueued_is_taken_over_when_the_feed_settles() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    taken = Taken()
    feed = LogFeed(taken.take, read_ahead=None)
    feed.settle()
    feed.open(stream)
    stream.enqueue("A", 1)
    clock.advance(2.0)
    stream.enqueue("A", 2, time=-1.0)
    assert taken.entries == []
    feed.settle()
    feed.settle()
    assert [(entry.value, entry.arrival, entry.version) for entry in taken.entries] == [
        (1, 0.0, 1),
        (2, 2.0, 0),
    ]


def test_a_feed_that_is_closed_takes_nothing_over() -> None:
    stream = Stream(clock=ManualClock())
    taken = Taken()
    feed = LogFeed(taken.take, read_ahead=None)
    feed.open(stream)
    stream.enqueue("A", 1)
    feed.close(stream)
    stream.enqueue("A", 2)
    feed.settle()
    assert taken.entries == []


def test_a_feed_with_a_bound_settles_by_itself() -> None:
    stream = Stream(clock=ManualClock())
    taken = Taken()
    LogFeed(taken.take, read_ahead=2).open(stream)
    stream.enqueue("A", 1)
    assert len(taken.entries) == 0
    stream.enqueue("A", 2)
    assert len(taken.entries) == 2


@pytest.mark.parametrize(("forget_after", "read"), [(None, 0), (3.0, 1)])
def test_a_feed_reads_at_once_if_its_stream_forgets_keys_by_age(
    forget_after: float | None, read: int
) -> None:
    stream = Stream(clock=ManualClock(), forget_after=forget_after)
    taken = Taken()
    LogFeed(taken.take, read_ahead=None).open(stream, at_once=True)
    stream.enqueue("A", 1)
    assert len(taken.entries) == read


def test_the_newest_values_of_a_stream_come_in_the_order_of_their_arrival() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    for key in ("A", "B", "C", "A"):
        stream.enqueue(key, key)
        clock.advance(1.0)
    entries = newest_entries(stream, clock.now(), None)
    assert [(entry.value, entry.arrival) for entry in entries] == [
        ("B", 1.0),
        ("C", 2.0),
        ("A", 3.0),
    ]


def test_only_the_newest_values_since_some_moment_can_be_asked_for() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    for key in ("A", "B", "C", "A"):
        stream.enqueue(key, key)
        clock.advance(1.0)
    entries = newest_entries(stream, clock.now(), None, since=2.0)
    assert [entry.value for entry in entries] == ["C", "A"]
    assert newest_entries(stream, clock.now(), 1.0, since=2.0) == []


def test_values_that_have_outlived_their_time_and_deletions_are_no_newest_values() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    taken = Taken()
    feed = LogFeed(taken.take, read_ahead=None)
    feed.open(stream)
    for key, value in (("A", 1), ("B", 2), ("C", TOMBSTONE)):
        stream.enqueue(key, value)
        clock.advance(1.0)
    entries = newest_entries(stream, clock.now(), 3.0)
    assert [entry.value for entry in entries] == [2]
