"""The log of what happened in a run."""

from __future__ import annotations

from simulator.model.event_log import Event, EventKind, EventLog


def a_log() -> EventLog:
    log = EventLog()
    log.note(0.0, EventKind.ARRIVAL, "IBM", 0)
    log.note(0.0, EventKind.DEQUEUE, "IBM", 0)
    log.note(1.0, EventKind.ARRIVAL, "MSFT", 1)
    log.note(2.0, EventKind.DELIVERY, "IBM", 0)
    return log


def test_a_new_log_is_empty() -> None:
    log = EventLog()
    assert len(log) == 0
    assert list(log) == log.events() == []


def test_events_are_told_in_the_order_in_which_they_were_noted() -> None:
    log = a_log()
    assert len(log) == 4
    assert list(log) == [
        Event(0.0, EventKind.ARRIVAL, "IBM", 0),
        Event(0.0, EventKind.DEQUEUE, "IBM", 0),
        Event(1.0, EventKind.ARRIVAL, "MSFT", 1),
        Event(2.0, EventKind.DELIVERY, "IBM", 0),
    ]
    assert log.events() == list(log)


def test_the_events_of_one_kind_can_be_asked_for() -> None:
    assert [event.key for event in a_log().events(EventKind.ARRIVAL)] == ["IBM", "MSFT"]
    assert a_log().events(EventKind.DELIVERY) == [Event(2.0, EventKind.DELIVERY, "IBM", 0)]


def test_a_log_can_be_read_twice() -> None:
    log = a_log()
    assert list(log) == list(log)
