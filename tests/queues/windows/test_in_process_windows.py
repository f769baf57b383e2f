"""Windows are in process until their results are delivered, each once, and not without bound."""

from __future__ import annotations

import pytest

from upstream import (
    Aggregate,
    ManualClock,
    WindowNotInProcessError,
    WindowResult,
)

from ..window_kinds import TUMBLING, Consumer, MakeQueue, every_kind, feed


@every_kind
def test_a_result_is_delivered_once(make: MakeQueue) -> None:
    queue = make(TUMBLING)
    feed(queue, "IBM", [0, 1, 3])
    queue.advance(6)
    consumer = Consumer(queue)
    consumer.serve()
    for result in consumer.results:
        with pytest.raises(WindowNotInProcessError, match="deliver each result of Aggregate"):
            queue.deliver(result)


@every_kind
@pytest.mark.parametrize(
    "wrong",
    [
        None,
        3,
        ("IBM", 0.0, 3.0, 1),
        WindowResult("IBM", 0.0, 3.0, 1),
        WindowResult([], 0.0, 3.0, 1),  # type: ignore[arg-type]
    ],
)
def test_an_object_that_is_not_a_result_of_the_queue_is_refused(
    make: MakeQueue, wrong: object
) -> None:
    with pytest.raises(WindowNotInProcessError):
        make(TUMBLING).deliver(wrong)  # type: ignore[arg-type]


@every_kind
def test_results_can_be_delivered_together_and_in_any_order(make: MakeQueue) -> None:
    clock = ManualClock()
    queue = make(TUMBLING, clock=clock)
    collect = Aggregate("count")
    results = []
    for time in range(12):
        clock.set(time)
        queue.enqueue("IBM", 1, time=time)
        results += [result for one in queue.dequeue_many(9) if (result := collect.process(one))]
    assert len(results) >= 3
    assert queue.statistics().in_process == len(results)
    queue.deliver_many(reversed(results))
    queue._check()
    assert queue.statistics().in_process == 0


@every_kind
def test_the_windows_in_process_are_bounded(make: MakeQueue) -> None:
    queue = make(TUMBLING, clock=ManualClock(), in_process_limit=2)
    collect = Aggregate("count")
    results = []
    for time in range(30):
        queue.enqueue("IBM", 1, time=time)
        results += [result for one in queue.dequeue_many(9) if (result := collect.process(one))]
        queue._check()
    statistics = queue.statistics()
    assert statistics.in_process == 2
    assert statistics.taken_as_delivered == statistics.delivered == len(results) - 2
    queue.forget("IBM")
    for result in results:  # taken as delivered, or in process still: no mistake of the consumer's
        queue.deliver(result)
    assert queue.statistics().delivered == len(results)
    with pytest.raises(WindowNotInProcessError):
        queue.deliver(results[0])
