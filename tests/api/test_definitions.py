"""Definitions of clients, and the queues and streams made from them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from api import definitions
from api.definitions import (
    PoolTooLargeError,
    QueueDefinition,
    StreamDefinition,
    WindowDefinition,
)
from api.window_results import WindowResults
from upstream import (
    AdaptiveQueue,
    AppendQueue,
    ManualClock,
    Scheduler,
    Stream,
    StreamQueue,
    UpdateQueue,
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("update", UpdateQueue), ("append", AppendQueue), ("adaptive", AdaptiveQueue)],
)
def test_each_kind_makes_its_queue(kind: str, expected: type[StreamQueue]) -> None:
    queue = QueueDefinition.model_validate({"kind": kind, "capacity": 7}).make_queue()
    assert type(queue) is expected


def test_windows_are_served_as_results() -> None:
    definition = QueueDefinition(kind="window", window=WindowDefinition(size=3, slide=1))
    queue = definition.make_queue()
    assert isinstance(queue, WindowResults)
    assert queue.queue.specification.overlap == 3


@pytest.mark.parametrize("scheduler", ["index", "in-place", "fifo", "linecutting"])
def test_the_scheduler_goes_by_its_public_name(scheduler: str) -> None:
    queue = QueueDefinition.model_validate({"scheduler": scheduler}).make_queue()
    assert isinstance(queue, UpdateQueue)
    assert queue.scheduler.name == scheduler


def test_a_scheduler_can_be_wrapped() -> None:
    wrapped: list[Scheduler] = []

    def wrap(scheduler: Scheduler) -> Scheduler:
        wrapped.append(scheduler)
        return scheduler

    queue = QueueDefinition().make_queue(wrap=wrap)
    assert isinstance(queue, UpdateQueue)
    assert wrapped == [queue.scheduler]


def test_a_measured_cost_counts_unless_the_definition_has_one() -> None:
    costs = []
    for definition in (QueueDefinition(), QueueDefinition(processing_cost=1.0)):
        queue = definition.make_queue(told_cost=lambda: 2.0)
        assert isinstance(queue, UpdateQueue)
        costs.append(queue.processing_cost)
    assert costs == [2.0, 1.0]


def test_weights_go_by_patterns() -> None:
    queue = QueueDefinition(weights={"GO*": 4.0}).make_queue()
    assert isinstance(queue, UpdateQueue)
    clock = ManualClock()  # else what waits a microsecond longer may have waited for twice as long
    stream = Stream(clock=clock)
    stream.attach(queue)
    for key in ("IBM", "GOOG"):
        stream.enqueue(key, 1)
    clock.advance(1.0)
    first = queue.dequeue()
    assert first is not None
    assert first.key == "GOOG"


def test_patterns_of_weights_are_bounded_together_and_exact_keys_are_not() -> None:
    QueueDefinition(weights={f"{number}" + "x" * 1_000: 2.0 for number in range(10)})
    QueueDefinition(weights={"*" + "x" * 1_000: 2.0, "?" + "x" * 1_000: 2.0})
    with pytest.raises(ValidationError, match="in total"):
        QueueDefinition(weights={sign + "x" * 1_000: 2.0 for sign in ("*", "?", "[a]")})


def test_memory_is_made_only_where_it_is_asked_for() -> None:
    assert StreamDefinition().memory() is None
    assert StreamDefinition(pool_bytes=8_192).memory() is not None


def test_definitions_that_say_the_same_are_equal() -> None:
    assert QueueDefinition() == QueueDefinition(kind="update", weights={})
    assert QueueDefinition() != QueueDefinition(snapshot=True)


def test_a_page_pool_that_there_is_no_memory_for_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(definitions, "PagePool", fail)
    with pytest.raises(PoolTooLargeError):
        StreamDefinition(pool_bytes=1 << 36).memory()
