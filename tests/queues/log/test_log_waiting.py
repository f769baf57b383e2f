"""A queue that reads its stream's log does nothing until it is asked, and then knows everything."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream import AdaptiveQueue, AppendQueue, InPlaceScheduler, ManualClock, Stream, StreamQueue
from upstream.queues.log.log_waiting import READ_AHEAD

from ..setting import values_of

KINDS: list[Callable[[], StreamQueue]] = [
    lambda: AppendQueue(time_to_live=9.0),
    lambda: AdaptiveQueue(InPlaceScheduler(), time_to_live=9.0),
]
ANSWERS: dict[str, tuple[Callable[[StreamQueue], object], object]] = {
    "len": (len, 2),
    "read": (lambda queue: queue.read("A"), ("A", 1, 0.0)),
    "peek": (lambda queue: queue.peek(), ("A", 1, 0.0)),
    "snapshot": (lambda queue: values_of(queue.snapshot()), [1, 2]),
    "statistics": (lambda queue: queue.statistics().waiting, 2),
    "staleness": (lambda queue: queue.queue_staleness(), 1.0),
    "staleness of a key": (lambda queue: queue.application_staleness("B"), 1.0),
    "dequeue": (lambda queue: queue.dequeue(), ("A", 1, 0.0)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ask", "answer"), ANSWERS.values(), ids=ANSWERS)
def test_the_first_call_of_any_method_reads_the_arrivals(
    kind: Callable[[], StreamQueue],
    ask: Callable[[StreamQueue], object],
    answer: object,
    clock: ManualClock,
    stream: Stream,
) -> None:
    queue = kind()
    stream.attach(queue)
    stream.enqueue_many(["A", "B"], [1, 2])
    assert len(queue._waiting) == 0, "an enqueue costs it nothing"
    clock.advance(2.0)
    assert ask(queue) == answer


@pytest.mark.parametrize("kind", KINDS)
def test_the_unread_entries_are_bounded(kind: Callable[[], StreamQueue], stream: Stream) -> None:
    queue = kind()
    stream.attach(queue)
    for number in range(READ_AHEAD - 1):
        stream.enqueue(number, number)
    assert len(queue._waiting) == 0
    stream.enqueue("one more", 0)
    assert len(queue._waiting) == READ_AHEAD


@pytest.mark.parametrize("kind", KINDS)
def test_an_unread_update_expires_in_time(kind: Callable[[], StreamQueue]) -> None:
    clock = ManualClock()
    stream = Stream(clock=clock)
    queue = kind()
    stream.attach(queue)
    stream.enqueue("A", 1)
    clock.advance(18.0)
    assert queue.queue_staleness("A") == pytest.approx(9.0**2 / 2 / 18.0)
    assert queue.statistics().expired == 1
