"""Adaptive queues keep every update while the consumer keeps up, and conflate when not."""

from __future__ import annotations

import math
from typing import Unpack

import pytest

from upstream import (
    AdaptiveQueue,
    FifoScheduler,
    InPlaceScheduler,
    ManualClock,
    Outcome,
    ParameterError,
    StreamQueue,
)

from ..contract import QueueContract
from ..setting import Options, values_of


class TestAdaptive(QueueContract):
    """With the default bounds; nothing in the contract makes it conflate."""

    policy = "adaptive"

    def make(self, **options: Unpack[Options]) -> StreamQueue:
        return AdaptiveQueue(**options)


class TestAdaptiveUnderPressure(QueueContract):
    """With bounds so small that it changes its way again and again."""

    policy = "adaptive"

    def make(self, **options: Unpack[Options]) -> StreamQueue:
        return AdaptiveQueue(InPlaceScheduler(), max_waiting=4, **options)


def in_place(*, max_waiting: int, clock: ManualClock | None = None) -> AdaptiveQueue:
    clock = ManualClock() if clock is None else clock
    return AdaptiveQueue(InPlaceScheduler(), max_waiting=max_waiting, clock=clock)


def test_every_update_waits_while_no_more_than_the_bound_do() -> None:
    queue = in_place(max_waiting=4)
    assert {queue.enqueue("IBM", number) for number in range(4)} == {Outcome.WAITING}
    assert len(queue) == 4
    assert not queue.is_conflating
    assert values_of(queue.dequeue_many(9)) == [0, 1, 2, 3]
    assert queue.statistics().switches == 0


def test_above_the_bound_only_the_newest_update_of_each_key_waits_in_its_place() -> None:
    queue = in_place(max_waiting=5)
    for value, key in enumerate("ABACBA"):
        queue.enqueue(key, value)
    assert queue.is_conflating
    assert len(queue) == 3
    statistics = queue.statistics()
    assert (statistics.superseded, statistics.switches) == (3, 1)
    assert statistics.is_balanced
    assert [(update.key, update.value) for update in queue.dequeue_many(9)] == [
        ("A", 5),
        ("B", 4),
        ("C", 3),
    ]
    queue._check()


def test_while_it_conflates_it_is_an_update_queue() -> None:
    queue = in_place(max_waiting=2)
    for number in range(3):
        queue.enqueue("IBM", number, time=number)
    assert queue.enqueue("IBM", 4, time=4) is Outcome.SUPERSEDED
    assert queue.enqueue("IBM", 3, time=3) is Outcome.LATE
    assert queue.enqueue("MSFT", 5, time=0) is Outcome.WAITING
    assert values_of(queue.dequeue_many(9)) == [4, 5]


def test_a_batch_reports_the_outcomes_of_its_rows() -> None:
    queue = in_place(max_waiting=1)
    outcome = queue.enqueue_many(["IBM"] * 3, [1, 2, 3])
    statistics = queue.statistics()
    assert outcome.superseded == statistics.superseded == 2
    assert outcome.waiting == statistics.waiting == 1


BAD_BOUNDS: dict[str, list[object]] = {
    "max_waiting": [0, -1, 2.5, math.nan, "5", None],
    "max_age": [0.0, -1.0, math.nan, math.inf, "5"],
    "resume_waiting": [-1, 11, 2.5, "5"],
    "resume_age": [-1.0, 5.5, math.nan, "5"],
}


@pytest.mark.parametrize(
    ("name", "bound"), [(name, bound) for name, bounds in BAD_BOUNDS.items() for bound in bounds]
)
def test_a_bound_that_is_not_allowed_is_refused_by_name(name: str, bound: object) -> None:
    bounds = {"max_waiting": 10, "max_age": 5.0, name: bound}
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(**bounds)  # type: ignore[arg-type]
    assert raised.value.name == name


def test_fifo_cannot_serve_it() -> None:
    with pytest.raises(ParameterError) as raised:
        AdaptiveQueue(FifoScheduler())
    assert raised.value.name == "scheduler"
