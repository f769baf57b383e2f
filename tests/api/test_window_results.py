"""Clients of the service get each window as one update with its result."""

from __future__ import annotations

import json

import pytest

from api import window_results
from api.window_results import WindowResults
from upstream import (
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    NotInProcessError,
    Update,
    WindowQueue,
    WindowSpecification,
)


def results(aggregate: str = "sum", of: str | None = None) -> WindowResults:
    queue = WindowQueue(
        WindowSpecification(2, 2), LazyWindowBuffer, InPlaceScheduler(), clock=ManualClock()
    )
    return WindowResults(queue, aggregate, of=of)


def feed(windows: WindowResults, *values: object, key: str = "IBM") -> None:
    for time, value in enumerate(values):
        windows.queue.enqueue(key, value, time=time)


def served(windows: WindowResults) -> list[object]:
    values = []
    while (update := windows.dequeue()) is not None:
        assert isinstance(update.value, bytes)
        values.append(json.loads(update.value)["result"])
        windows.deliver(update)
    return values


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [("sum", 3), ("mean", 1.5), ("count", 2), ("max", 2), ("first", 1), ("last", 2)],
)
def test_a_complete_window_is_one_update(aggregate: str, expected: object) -> None:
    windows = results(aggregate)
    feed(windows, b"1", b"2", b"3")
    assert served(windows) == [expected]
    assert windows.queue.statistics().delivered == 1


def test_a_window_that_is_not_complete_is_not_served() -> None:
    windows = results()
    feed(windows, b"1", b"2")
    assert windows.dequeue() is None
    assert not windows.has_more


def test_a_member_of_the_value_can_be_aggregated() -> None:
    windows = results(of="price")
    feed(windows, b'{"price":1}', b'{"price":2}', b"{}")
    assert served(windows) == [3]


def test_values_that_are_not_numbers_are_left_out_and_counted() -> None:
    windows = results()
    feed(windows, b"1", b'"poison"', b"true", b"null", b"5")
    assert served(windows) == [None]
    assert windows.left_out == 2
    for time, value in ((5, b"3"), (6, b"4")):
        windows.queue.enqueue("IBM", value, time=time)
    assert served(windows) == [5 + 3]
    windows = results("count")
    feed(windows, b"1", b'"any"', b"5")
    assert served(windows) == [2]


def test_a_sum_beyond_64_bits_is_a_float_which_every_format_can_say() -> None:
    windows = results("sum")
    feed(windows, b"18446744073709551615", b"18446744073709551615", b"1")
    (value,) = served(windows)
    assert isinstance(value, float)
    assert value == 2.0**65


def test_a_result_that_was_given_back_is_dequeued_again() -> None:
    windows = results()
    feed(windows, b"1", b"2", b"3")
    update = windows.dequeue()
    assert update is not None
    windows.give_back(update)
    assert windows.dequeue() is update
    windows.deliver(update)
    for again in (windows.deliver, windows.give_back):
        with pytest.raises(NotInProcessError):
            again(update)


def test_a_result_of_another_queue_is_not_delivered() -> None:
    with pytest.raises(NotInProcessError):
        results().deliver(Update("IBM", b"1", 0.0))


def test_many_tuples_are_aggregated_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_results, "TUPLES_AT_ONCE", 3)
    windows = WindowResults(
        WindowQueue(WindowSpecification(10, 10), LazyWindowBuffer, InPlaceScheduler()), "sum"
    )
    feed(windows, *[b"1"] * 11)
    calls = 1
    while (update := windows.dequeue()) is None:
        assert windows.has_more
        calls += 1
    assert calls == 4
    assert isinstance(update.value, bytes)
    assert json.loads(update.value)["result"] == 10


def test_a_waiting_key_is_read_as_its_newest_tuple() -> None:
    windows = results()
    feed(windows, b"1", b"2", b"3")
    newest = windows.read("IBM")
    assert newest is not None
    assert newest.value == b"2"
    assert windows.read("GM") is None
    assert len(windows) == 1
