"""A late scheduler passes the contract suite, and serves keys as its inner scheduler does."""

from __future__ import annotations

import pytest

from api.push.late_scheduler import LateScheduler
from tests.schedulers.contract import (
    SHORT_RUNS,
    InPlaceModel,
    SchedulerContract,
    SchedulerMachine,
)
from upstream import InPlaceScheduler, ManualClock, PacedScheduler, Stream, UpdateQueue
from upstream.keys import Place
from upstream.schedulers import Scheduler


class TestLateScheduler(SchedulerContract):
    name = "late"

    def make(self) -> Scheduler:
        return LateScheduler(InPlaceScheduler())


class LateMachine(SchedulerMachine):
    """As IN-PLACE against a list that is sorted by wait."""

    model = InPlaceModel

    def make(self) -> Scheduler:
        return LateScheduler(InPlaceScheduler())


TestLateMachine = LateMachine.TestCase
TestLateMachine.settings = SHORT_RUNS


class _Counting(InPlaceScheduler):
    """IN-PLACE that counts the keys that it was told of."""

    __slots__ = ("told",)

    def __init__(self) -> None:
        super().__init__()
        self.told = 0

    def schedule(self, place: Place) -> None:
        self.told += 1
        super().schedule(place)


@pytest.fixture
def stream() -> Stream:
    return Stream(clock=ManualClock())


def test_an_arrival_does_not_reach_the_inner_scheduler(stream: Stream) -> None:
    inner = _Counting()
    queue = UpdateQueue(LateScheduler(inner))
    stream.attach(queue)
    stream.enqueue_many(["A", "B", "C"], [1, 2, 3])
    assert (inner.told, len(queue)) == (0, 3)
    assert [update.key for update in queue.dequeue_many(2)] == ["A", "B"]
    assert (inner.told, len(queue)) == (3, 1)


def test_a_queue_may_begin_with_any_of_the_keys_that_wait_equally_long(stream: Stream) -> None:
    stream.enqueue_many(["A", "B", "C", "D"], [1, 2, 3, 4])
    late = LateScheduler(InPlaceScheduler())
    queue = UpdateQueue(late)
    stream.attach(queue, snapshot=True)
    late.begin_at(0.6)
    assert [update.key for update in queue.dequeue_many(9)] == ["C", "D", "A", "B"]
    queue._check()


def test_keys_that_the_inner_scheduler_bars_are_barred(stream: Stream) -> None:
    paced = PacedScheduler(InPlaceScheduler(), {"A": 0.0, "B": float("inf")}.__getitem__)
    queue = UpdateQueue(LateScheduler(paced))
    stream.attach(queue)
    stream.enqueue_many(["A", "B"], [1, 2])
    stream.forget("B")
    stream.enqueue("B", 3)
    assert queue.waiting_since() == 0.0
    assert [update.key for update in queue.dequeue_many(9)] == ["A"]
    assert queue.waiting_since() is None
    assert len(queue) == 1
    queue._check()


def test_a_key_forgotten_before_it_was_scheduled_is_never_scheduled(stream: Stream) -> None:
    queue = UpdateQueue(LateScheduler(InPlaceScheduler()))
    stream.attach(queue)
    stream.enqueue_many(["A", "B"], [1, 2])
    stream.forget("A")
    assert [update.key for update in queue.dequeue_many(9)] == ["B"]
    queue._check()
    assert queue.close().expired == 1
