"""The kinds of queues of windows, and a consumer that serves them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from upstream import (
    Aggregate,
    AppendWindowQueue,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    WindowBuffer,
    WindowMark,
    WindowQueue,
    WindowResult,
    WindowSpecification,
    WindowTuple,
)

TUMBLING = WindowSpecification(3, 3)
SLIDING = WindowSpecification(3, 1, tick=1)
BUFFERS = pytest.mark.parametrize("buffer", [LazyWindowBuffer, EagerWindowBuffer])
Buffer = type[WindowBuffer]
AnyWindowQueue = WindowQueue | AppendWindowQueue
MakeQueue = Callable[..., AnyWindowQueue]


def lazy(specification: WindowSpecification, **options: object) -> AnyWindowQueue:
    """Make a queue that commits to closed windows."""
    return WindowQueue(
        specification,
        LazyWindowBuffer,
        InPlaceScheduler(),
        **options,  # type: ignore[arg-type]
    )


def eager(specification: WindowSpecification, **options: object) -> AnyWindowQueue:
    """Make a queue that commits to started windows."""
    return WindowQueue(
        specification,
        EagerWindowBuffer,
        InPlaceScheduler(),
        **options,  # type: ignore[arg-type]
    )


def append(specification: WindowSpecification, **options: object) -> AnyWindowQueue:
    """Make a queue that gives every window."""
    return AppendWindowQueue(specification, **options)  # type: ignore[arg-type]


KINDS: dict[str, MakeQueue] = {"lazy": lazy, "eager": eager, "append": append}

every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


class Consumer:
    """Serves a queue: lists the values of each window, and delivers them."""

    def __init__(self, queue: AnyWindowQueue, clock: ManualClock | None = None) -> None:
        self.queue = queue
        self.clock = clock
        self.collect = Aggregate(list)
        self.results: list[WindowResult] = []
        self.aborts: list[object] = []

    def serve(self, most: int = 1_000_000, *, cost: float = 0.0) -> list[WindowTuple]:
        """Process what is there, at most so many tuples; each takes so many seconds."""
        taken: list[WindowTuple] = []
        while len(taken) < most and (window_tuple := self.queue.dequeue()) is not None:
            taken.append(window_tuple)
            if self.clock is not None and window_tuple.update is not None:
                self.clock.advance(cost)
            if window_tuple.mark is WindowMark.ABORT:
                self.aborts.append(window_tuple.key)
            result = self.collect.process(window_tuple)
            if result is not None:
                self.results.append(result)
                self.queue.deliver(result)
            self.queue._check()
        return taken


def feed(
    queue: AnyWindowQueue,
    key: object,
    times: Iterable[float],
    *,
    clock: ManualClock | None = None,
) -> None:
    """Enqueue tuples whose values are their times; the clock, if given, moves with them."""
    for time in times:
        if clock is not None:
            clock.set(max(time, clock.now()))
        queue.enqueue(key, time, time=time)
        queue._check()
