"""The feed of a stream: what a queue may ask of it, and what exists only while a queue needs it."""

from __future__ import annotations

import pytest

from upstream import (
    TOMBSTONE,
    ClosedError,
    InPlaceScheduler,
    KeyNotHashableError,
    ManualClock,
    Stream,
    UnknownKeyError,
    UpdateQueue,
)
from upstream.keys import KeyTable
from upstream.queues.log.log_cursor import LogCursor
from upstream.queues.stream.kept_order import KeptOrder


def test_the_log_and_the_kept_order_exist_only_while_something_needs_them(stream: Stream) -> None:
    feed = stream._feed
    stream.attach(UpdateQueue(InPlaceScheduler()))
    cursor = LogCursor(lambda _entry, _now: None, read_ahead=None)
    log = feed.open_log(cursor)
    assert feed.intake.log is log
    feed.close_log(cursor)
    assert feed.intake.log is None
    stream.enqueue("B", 1)
    stream.enqueue("A", 1)
    first, second = feed.keep_order(), feed.keep_order()
    assert first is second
    assert [cell.key for cell in first] == ["B", "A"]
    feed.release_order()
    stream._check()
    feed.release_order()
    assert feed.intake.is_by_reference


def test_the_newest_values_come_in_the_order_of_their_arrival() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    for key in "ABA":
        stream.enqueue(key, key)
        clock.advance(1.0)
    feed = stream._feed
    assert [cell.key for cell in feed.newest_cells()] == ["B", "A"]
    assert [cell.key for cell in feed.newest_cells(since=2.0)] == ["A"]
    stream.enqueue("A", TOMBSTONE)
    assert [cell.key for cell in feed.newest_cells()] == ["B"]
    entry = feed.entry_of(feed.newest_cells()[0])
    assert (entry.value, entry.arrival, entry.version) == ("B", 1.0, 1)


def test_a_key_is_found_if_it_is_known_and_can_be_one(stream: Stream) -> None:
    stream.enqueue("A", 1)
    assert stream._feed.find("A") is not None
    assert stream._feed.find("B") is None
    with pytest.raises(KeyNotHashableError):
        stream._feed.find([])  # type: ignore[arg-type]
    with pytest.raises(UnknownKeyError):
        stream._feed.forget("B")


def test_a_closed_feed_says_what_is_closed(stream: Stream) -> None:
    stream.close()
    with pytest.raises(ClosedError, match="stream"):
        stream._feed.catch_up()
    assert stream.statistics().keys == 0


def test_an_order_that_is_kept_begins_with_the_keys_that_are_there() -> None:
    table = KeyTable()
    for key, arrival in (("late", 2.0), ("early", 1.0)):
        table.add(key, time=0.0, arrival=arrival)
    kept = KeptOrder(table)
    assert kept.order is None
    assert [cell.key for cell in kept.keep()] == ["early", "late"]
    kept._check()
    kept.release()
    assert kept.order is None
