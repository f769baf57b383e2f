"""A key of which the last update left unnoticed is forgotten as of when it should have been."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream import (
    AdaptiveQueue,
    AppendQueue,
    InPlaceScheduler,
    ManualClock,
    RandomShedding,
    Stream,
    StreamQueue,
    UpdateQueue,
)

KINDS: list[Callable[[], StreamQueue]] = [
    lambda: AppendQueue(time_to_live=5.0),
    lambda: AdaptiveQueue(InPlaceScheduler(), time_to_live=5.0),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forget_after", [1.0, 5.0, 6.0])
def test_a_key_is_forgotten_when_its_last_update_has_expired(
    kind: Callable[[], StreamQueue], forget_after: float
) -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=forget_after)
    queue = kind()
    stream.attach(queue)
    stream.enqueue("A", 1, time=10.0)
    clock.advance(20.0)
    lifetime = max(5.0, forget_after)
    assert queue.queue_staleness() == pytest.approx(5.0**2 / 2 / lifetime)
    assert stream.read("A") is None
    assert queue.statistics().forgotten == 1


def test_a_key_that_was_shed_is_forgotten_at_once_if_its_time_is_over() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=3.0)
    queue = AppendQueue(capacity=1, shedding=RandomShedding(0))
    stream.attach(queue)
    for number in range(40):
        stream.enqueue(number, number)
        clock.advance(4.0)
        assert queue.statistics().keys == len(queue) == 1
    assert queue.statistics().forgotten == 39


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_key_is_forgotten_when_the_last_queue_lets_go_of_it(
    kind: Callable[[], StreamQueue], is_first: bool
) -> None:
    """The late update leaves its queue at 6, when nothing else falls due; the other at 9."""
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=3.0)
    other = UpdateQueue(InPlaceScheduler(), time_to_live=9.0)
    for queue in (kind(), other) if is_first else (other, kind()):
        stream.attach(queue)
    stream.enqueue("A", 1, time=10.0)
    clock.advance(1.0)
    stream.enqueue("A", 0, time=9.0)
    clock.advance(19.0)
    assert len(stream) == 0
    assert other.queue_staleness() == pytest.approx(9.0 / 2)
    assert other.application_staleness() == pytest.approx(9.0 / 2)
