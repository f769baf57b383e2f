"""Counters as JSON objects."""

from __future__ import annotations

import pytest

from api.routes.statistics_view import counters_of
from upstream import (
    InPlaceScheduler,
    LazyWindowBuffer,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
)


def test_the_counters_of_a_queue_are_told_by_name() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    queue.enqueue("IBM", 1)
    counters = counters_of(queue.statistics())
    assert counters["arrived"] == counters["waiting"] == 1


def test_those_of_windows_and_tuples_are_objects() -> None:
    queue = WindowQueue(WindowSpecification(2, 2), LazyWindowBuffer, InPlaceScheduler())
    queue.enqueue("IBM", 1, time=0)
    counters = counters_of(queue.statistics())
    tuples = counters["tuples"]
    assert isinstance(tuples, dict)
    assert tuples["arrived"] == 1


def test_what_are_no_counters_is_our_mistake() -> None:
    with pytest.raises(AssertionError):
        counters_of({"arrived": 1})
