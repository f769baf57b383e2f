"""What every queue of windows does: results, counters, staleness, and its end."""

from __future__ import annotations

import math
import random

import pytest

from upstream import (
    ClosedError,
    ManualClock,
    ParameterError,
    UnknownKeyError,
    WindowResult,
    WindowSpecification,
)

from ..window_kinds import (
    SLIDING,
    TUMBLING,
    Consumer,
    MakeQueue,
    append,
    eager,
    every_kind,
    feed,
    lazy,
)


@every_kind
@pytest.mark.parametrize("seed", range(30))
def test_every_result_is_what_a_plain_list_holds_in_that_window(make: MakeQueue, seed: int) -> None:
    chance = random.Random(seed)
    windows = chance.choice(
        [
            TUMBLING,
            SLIDING,
            WindowSpecification(5, 2),
            WindowSpecification(2, 5),
            WindowSpecification(0.5, 0.25),
        ]
    )
    queue = make(windows, clock=ManualClock())
    consumer = Consumer(queue)
    kept: dict[str, list[float]] = {"a": [], "b": []}
    time = chance.choice([-8.0, 0.0, 0.3])
    for _ in range(80):
        time += chance.choice([0, 0.25, 0.5, 1, 1, 2, 7])
        key = chance.choice("ab")
        late = chance.choice([0, 0, 0, 1.5])
        before = queue.statistics().tuples.late
        queue.enqueue(key, time - late, time=time - late)
        if queue.statistics().tuples.late == before:
            kept[key].append(time - late)
        if chance.random() < 0.4:
            consumer.serve(chance.randint(1, 5))
    queue.advance(time + 100)
    consumer.serve()
    for result in consumer.results:
        inside = [one for one in kept[str(result.key)] if result.start <= one < result.end]
        assert result.value == inside
        assert result.end - result.start == pytest.approx(windows.size)
    statistics = queue.statistics()
    assert statistics.windows.held == statistics.tuples.held == statistics.in_process == 0
    assert statistics.windows.committed == len(consumer.results) == statistics.delivered


@every_kind
def test_a_specification_is_asked_for(make: MakeQueue) -> None:
    with pytest.raises(ParameterError, match="specification must be a WindowSpecification"):
        make((3, 1))
    assert make(TUMBLING).specification == TUMBLING


@every_kind
def test_dequeue_many_gives_what_that_many_dequeues_would(make: MakeQueue) -> None:
    one, many = make(SLIDING, clock=ManualClock()), make(SLIDING, clock=ManualClock())
    for queue in (one, many):
        feed(queue, "a", range(9))
        feed(queue, "b", range(9))
    one_by_one = [one.dequeue() for _ in range(5)]
    assert many.dequeue_many(5) == [found for found in one_by_one if found is not None]
    assert many.dequeue_many(0) == []
    with pytest.raises(ParameterError, match="limit"):
        many.dequeue_many(-1)


@every_kind
def test_advance_closes_the_windows_of_all_keys_that_have_ended(make: MakeQueue) -> None:
    queue = make(TUMBLING)
    feed(queue, "a", [0, 1])
    feed(queue, "b", [3, 4])
    consumer = Consumer(queue)
    queue.advance(2.9)
    consumer.serve()
    assert consumer.results == []
    queue.advance(3)
    consumer.serve()
    assert [(result.key, result.value) for result in consumer.results] == [("a", [0, 1])]
    queue.advance(math.inf)
    consumer.serve()
    assert [(result.key, result.value) for result in consumer.results[1:]] == [("b", [3, 4])]
    queue.advance(0)  # back in time, which opens nothing again
    assert queue.statistics().windows.held == 0


@pytest.mark.parametrize("make", [lazy, append], ids=["lazy", "append"])
def test_advance_closes_the_windows_of_different_keys_by_their_ends(make: MakeQueue) -> None:
    queue = make(TUMBLING)
    consumer = Consumer(queue)
    feed(queue, "a", [0])
    queue.advance(0)  # from now on the queue knows that a window of "a" ends at 3
    feed(queue, "a", [6])
    feed(queue, "b", [3])
    consumer.serve()
    queue.advance(9)
    consumer.serve()
    ends = [(result.key, result.end) for result in consumer.results]
    assert ends[-2:] == [("b", 6), ("a", 9)]


@every_kind
@pytest.mark.parametrize("wrong", [math.nan, "now", None, [1]])
def test_advance_wants_a_time(make: MakeQueue, wrong: float) -> None:
    with pytest.raises(ParameterError, match="now must be a time in seconds"):
        make(TUMBLING).advance(wrong)


@every_kind
def test_the_application_is_stale_from_the_close_of_a_window_on(make: MakeQueue) -> None:
    clock = ManualClock()
    queue = make(TUMBLING, clock=clock)
    feed(queue, "IBM", [0, 1, 2], clock=clock)
    clock.set(3)
    assert queue.application_staleness("IBM") == 0
    queue.enqueue("IBM", 3, time=3)  # closes the first window
    clock.set(5)
    assert queue.application_staleness("IBM") == pytest.approx((5 - 3) ** 2 / 2 / 5)
    assert queue.application_staleness() == queue.application_staleness("IBM")
    assert queue.staleness_by_key("application") == {"IBM": queue.application_staleness()}
    with pytest.raises(UnknownKeyError):
        queue.application_staleness("MSFT")


@every_kind
def test_the_cost_of_a_window_is_the_time_spent_on_its_tuples(make: MakeQueue) -> None:
    clock = ManualClock()
    queue = make(WindowSpecification(4, 4, tick=1), clock=clock)
    assert queue.processing_cost is None
    for begin in range(0, 400, 40):
        clock.set(begin)
        feed(queue, "IBM", range(begin, begin + 4))
        Consumer(queue, clock).serve(cost=2.0)
    assert queue.processing_cost == pytest.approx(8)


@every_kind
def test_the_cost_of_a_window_can_be_given(make: MakeQueue, clock: ManualClock) -> None:
    queue = make(WindowSpecification(4, 4, tick=1), clock=clock, processing_cost=lambda: 30.0)
    feed(queue, "IBM", range(4))
    Consumer(queue, clock).serve(cost=2.0)
    assert queue.processing_cost == 30.0


@every_kind
def test_key_staleness_has_the_present_and_mean_staleness_of_each_key(make: MakeQueue) -> None:
    clock = ManualClock()
    queue = make(TUMBLING, clock=clock)
    feed(queue, "a", range(30), clock=clock)
    feed(queue, "b", range(9), clock=clock)
    Consumer(queue).serve(12)
    clock.advance(5.0)
    rows = {row.key: row for row in queue.key_staleness()}
    assert {key: row.queue_staleness for key, row in rows.items()} == queue.staleness_by_key()
    assert rows["b"].application_staleness == queue.application_staleness("b")
    assert rows["a"].rate is not None
    assert sum(row.waiting_seconds > 0 for row in rows.values()) == len(queue)
    assert rows["a"].stale_seconds >= rows["a"].waiting_seconds


@every_kind
def test_the_lower_bound_follows_from_the_rate_of_windows(make: MakeQueue) -> None:
    clock = ManualClock()
    queue = make(TUMBLING, clock=clock, processing_cost=30.0)
    assert queue.lower_bound() is None
    feed(queue, "a", range(30), clock=clock)
    bound = queue.lower_bound()
    assert bound is not None
    assert 0 < bound < 30


@every_kind
def test_forgetting_a_key_lets_go_of_all_that_is_not_committed(make: MakeQueue) -> None:
    clock = ManualClock()
    queue = make(TUMBLING, clock=clock)
    feed(queue, "IBM", range(8), clock=clock)
    stale = queue.application_staleness("IBM")
    queue.forget("IBM")
    queue._check()
    statistics = queue.statistics()
    assert statistics.windows.held == statistics.tuples.held == statistics.keys == len(queue) == 0
    assert queue.application_staleness() == stale
    with pytest.raises(UnknownKeyError):
        queue.forget("IBM")
    assert Consumer(queue).serve() == []


@every_kind
def test_a_window_that_is_open_when_its_key_is_forgotten_is_aborted(make: MakeQueue) -> None:
    queue = make(TUMBLING)
    feed(queue, "IBM", range(4))
    consumer = Consumer(queue)
    consumer.serve(1)
    queue.forget("IBM")
    feed(queue, "IBM", range(8))
    queue.advance(99)
    consumer.serve()
    assert consumer.collect.open_windows == 0
    assert queue.statistics().aborted == len(consumer.aborts)
    for result in consumer.results:
        assert result.value == [t for t in range(8) if result.start <= t < result.end]
    queue._check()


@every_kind
def test_close_returns_the_final_statistics(make: MakeQueue, clock: ManualClock) -> None:
    queue = make(SLIDING, clock=clock)
    feed(queue, "IBM", range(8), clock=clock)
    queue.dequeue()
    before, stale = queue.statistics(), queue.application_staleness()
    assert not queue.is_closed
    assert queue.close() == before == queue.statistics() == queue.close()
    assert queue.is_closed
    assert queue.application_staleness() == stale
    assert len(queue) == 0
    for use in (
        queue.dequeue,
        lambda: queue.enqueue("IBM", 1),
        lambda: queue.enqueue_many([], []),
        lambda: queue.advance(1),
        lambda: queue.forget("IBM"),
        lambda: queue.deliver(WindowResult("IBM", 0, 3, 1)),
        lambda: queue.application_staleness("IBM"),
    ):
        with pytest.raises(ClosedError):
            use()


def test_queues_without_a_pool_use_no_memory_of_one() -> None:
    for make in (lazy, eager, append):
        assert make(TUMBLING).memory_usage() is None
