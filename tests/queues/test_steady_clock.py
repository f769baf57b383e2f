"""With a clock that steps back, all is as if time had stood still until the clock caught up."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest

from upstream import (
    AdaptiveQueue,
    AppendQueue,
    AppendWindowQueue,
    Clock,
    EagerWindowBuffer,
    FifoScheduler,
    InPlaceScheduler,
    LazyWindowBuffer,
    LinecuttingScheduler,
    ManualClock,
    OnDemandMemory,
    PacedScheduler,
    PagePool,
    PagePoolFullError,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    UpdateQueue,
    WindowQueue,
    WindowResult,
    WindowSpecification,
)

WINDOWS = WindowSpecification(4, 2)
AnyQueue = StreamQueue | WindowQueue | AppendWindowQueue


class WobblingClock:
    """A clock that is set back now and then."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time


def small_memory() -> OnDemandMemory:
    return OnDemandMemory(PagePool(160, page_bytes=16, location_bytes=16))


KINDS: Mapping[str, Callable[[Clock], AnyQueue]] = {
    "fifo": lambda clock: UpdateQueue(FifoScheduler(), clock=clock, time_to_live=3.0),
    "in-place": lambda clock: UpdateQueue(InPlaceScheduler(), clock=clock, memory=small_memory()),
    "linecutting": lambda clock: UpdateQueue(LinecuttingScheduler(), clock=clock, forget_after=4.0),
    "index": lambda clock: UpdateQueue(StalenessIndexScheduler(2.0), clock=clock),
    "paced": lambda clock: UpdateQueue(
        PacedScheduler(StalenessIndexScheduler(), lambda _: 2.0), clock=clock, memory=small_memory()
    ),
    "append": lambda clock: AppendQueue(clock=clock, time_to_live=3.0, capacity=9),
    "adaptive": lambda clock: AdaptiveQueue(
        max_waiting=4, max_age=2.0, clock=clock, time_to_live=5.0
    ),
    "lazy windows": lambda clock: WindowQueue(
        WINDOWS, LazyWindowBuffer, InPlaceScheduler(), clock=clock, memory=small_memory()
    ),
    "eager windows": lambda clock: WindowQueue(
        WINDOWS, EagerWindowBuffer, StalenessIndexScheduler(), clock=clock
    ),
    "append windows": lambda clock: AppendWindowQueue(WINDOWS, clock=clock),
}


def use(queue: AnyQueue, rng: random.Random, time: int) -> object:
    """Use the queue in a random way, and return what is to be seen of it."""
    chance = rng.random()
    try:
        if chance < 0.4:
            return queue.enqueue(rng.randrange(5), b"%d" % time, time)
        if chance < 0.5:
            keys = [rng.randrange(5) for _ in range(4)]
            return queue.enqueue_many(keys, [b"%d" % time] * 4, [time] * 4)
    except PagePoolFullError as error:
        return str(error)
    if isinstance(queue, StreamQueue):
        update = queue.dequeue()
        if update is not None and chance < 0.8:
            queue.deliver(update)
        elif update is not None and chance < 0.9:
            queue.give_back(update)
        return update
    window_tuple = queue.dequeue()
    if window_tuple is not None and window_tuple.update is None and chance < 0.8:
        for window in list(queue._in_process):
            end = window.end
            queue.deliver(WindowResult(window.place.cell.key, end - 4.0, end, None))
    return window_tuple


@pytest.mark.parametrize("kind", KINDS)
def test_time_that_goes_back_stands_still(kind: str) -> None:
    for seed in range(10):
        wobbling, steady = WobblingClock(), ManualClock()
        one, other = KINDS[kind](wobbling), KINDS[kind](steady)
        rng, same = random.Random(seed), random.Random(seed)
        moves = random.Random(seed)
        assert one._catch_up() == other._catch_up() == 0.0
        steps_back = 0
        for time in range(80):
            wobbling.time += moves.choice([-2.5, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0])
            steady.set(max(steady.now(), wobbling.time))
            steps_back += wobbling.time < steady.now()
            assert one._catch_up() == other._catch_up()  # else a peak may have passed unseen
            assert use(one, rng, time) == use(other, same, time)
            assert one.statistics() == other.statistics()
            one._check()
        for staleness in ("queue", "application"):
            assert one.staleness_by_key(staleness) == other.staleness_by_key(staleness)
        if isinstance(one, StreamQueue):
            assert one.stream.statistics().clock_steps_back == one.clock_steps_back
            assert one.stream.memory_usage() == other_usage(other)
        else:
            assert one.memory_usage() == other_usage(other)
        assert one.clock_steps_back >= steps_back > 0
        assert other.clock_steps_back == 0


def other_usage(queue: AnyQueue) -> object:
    return queue.stream.memory_usage() if isinstance(queue, StreamQueue) else queue.memory_usage()


def test_a_stream_counts_the_steps_back_of_its_clock_and_so_do_its_queues() -> None:
    clock = WobblingClock()
    stream = Stream(clock=clock)
    queue = UpdateQueue(InPlaceScheduler())
    windows = WindowQueue(WINDOWS, LazyWindowBuffer, InPlaceScheduler())
    stream.attach(queue)
    stream.attach(windows)
    clock.time = -1.0
    stream.enqueue("IBM", 24.0, time=0)
    assert stream.statistics().clock_steps_back > 0
    windows.close()
    steps_back = stream.statistics().clock_steps_back
    assert queue.clock_steps_back == steps_back
    assert windows.clock_steps_back > 0
