"""What is closed or forgotten gives its memory back at once, without the garbage collector.

The collector looks at what has lived for long only after as much again was made. So whatever
refers to itself may stay for hours, and all that hangs on it.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from upstream import (
    AdaptiveQueue,
    AppendQueue,
    AppendWindowQueue,
    EagerWindowBuffer,
    FifoScheduler,
    InPlaceScheduler,
    LazyWindowBuffer,
    PacedScheduler,
    Stream,
    StreamQueue,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
    make_queue,
)

AnyQueue = StreamQueue | WindowQueue | AppendWindowQueue

KEYS = 30
UPDATES = 300
INTERVALS = dict.fromkeys(range(KEYS), 1.0)
WINDOWS = WindowSpecification(size=2, slide=1)
KINDS: dict[str, Callable[[], AnyQueue]] = {
    "append": lambda: make_queue("append"),
    "append-shedding": lambda: make_queue("append-shedding", capacity=50),
    "append-expiring": lambda: AppendQueue(time_to_live=1e6),
    "adaptive": lambda: AdaptiveQueue(max_waiting=10 * UPDATES),
    "adaptive-conflating": lambda: AdaptiveQueue(max_waiting=10),
    "fifo": lambda: make_queue("fifo"),
    "fifo-expiring": lambda: UpdateQueue(FifoScheduler(), time_to_live=1e6),
    "in-place": lambda: make_queue("in-place", capacity=20),
    "linecutting": lambda: make_queue("linecutting"),
    "index": lambda: make_queue("index"),
    "paced": lambda: UpdateQueue(PacedScheduler(InPlaceScheduler(), INTERVALS.__getitem__)),
    "windows-lazy": lambda: WindowQueue(WINDOWS, LazyWindowBuffer, InPlaceScheduler()),
    "windows-eager": lambda: WindowQueue(WINDOWS, EagerWindowBuffer, FifoScheduler()),
    "windows-append": lambda: AppendWindowQueue(WINDOWS),
}


class Value:
    """A value that the collector knows of."""


def living() -> Counter[str]:
    """Count the library's objects, and the values, by their classes."""
    kinds = Counter(map(type, gc.get_objects()))
    return Counter(
        {
            kind.__qualname__: count
            for kind, count in kinds.items()
            if kind is Value or str(kind.__module__).startswith("upstream.")
        }
    )


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """Let the garbage collector free nothing."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def use(queue: AnyQueue) -> None:
    """Let some keys wait, once or several times, and others be in process, or given back."""
    for number in range(UPDATES):
        queue.enqueue(number % KEYS, Value(), float(number // 10))
    taken = [queue.dequeue() for _ in range(KEYS)]
    if isinstance(queue, StreamQueue):
        for number, update in enumerate(taken):
            if update is None:  # there was no room for more
                break
            if number % 3 == 0:
                queue.deliver(update)  # type: ignore[arg-type]  # no windows
            elif number % 3 == 1:
                queue.give_back(update)  # type: ignore[arg-type]  # no windows
    queue.enqueue(0, Value(), 100.0)


def close_its_own_stream(queue: AnyQueue) -> object:
    use(queue)
    return queue.close()


def close_an_attached_one(queue: AnyQueue) -> object:
    stream = Stream()
    stream.attach(queue)
    use(queue)
    queue.close()
    return stream.statistics()


def close_the_stream(queue: AnyQueue) -> object:
    stream = Stream(forget_after=1e6)
    stream.attach(queue)
    use(queue)
    stream.close()
    return stream.statistics()


@pytest.mark.parametrize(
    "end",
    [close_its_own_stream, close_an_attached_one, close_the_stream],
    ids=lambda end: end.__name__,
)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_what_was_closed(kind: str, end: Callable[[AnyQueue], object]) -> None:
    before = living()
    final = end(KINDS[kind]())
    del final
    assert living() - before == Counter()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_a_key_that_was_forgotten(kind: str) -> None:
    stream = Stream()
    queue = KINDS[kind]()
    stream.attach(queue)

    def come_and_go() -> Counter[str]:
        for number in range(UPDATES):
            stream.enqueue(number % KEYS, Value(), float(number // 10))
        for key in range(KEYS):
            stream.forget(key)
        assert queue.dequeue() is None
        return living()

    first = come_and_go()
    assert come_and_go() - first == Counter()
    assert stream.statistics().keys == 0
