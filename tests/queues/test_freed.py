"""What is closed, dropped or forgotten gives its memory back at once, without the collector.

The collector looks at what has lived for long only after as much again was made. So whatever
refers to itself may stay for hours, and all that hangs on it.
"""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from upstream import (
    TOMBSTONE,
    AdaptiveQueue,
    AppendQueue,
    AppendWindowQueue,
    ClosedError,
    EagerWindowBuffer,
    FifoScheduler,
    InPlaceScheduler,
    LazyWindowBuffer,
    LinecuttingScheduler,
    ManualClock,
    OnDemandMemory,
    PacedScheduler,
    PagePool,
    RandomWindowShedding,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
    make_queue,
)


class AnyCodec:
    """Makes bytes of anything."""

    def encode(self, value: object) -> bytes:
        return b"value"

    def decode(self, data: bytes) -> object:
        return data


def new_memory() -> OnDemandMemory:
    return OnDemandMemory(PagePool(1 << 20), location_bytes=64)


AnyQueue = StreamQueue | WindowQueue | AppendWindowQueue

KEYS = 30
UPDATES = 300
INTERVALS = dict.fromkeys(range(KEYS), 1.0)
WINDOWS = WindowSpecification(size=2, slide=1)
KINDS: dict[str, Callable[[], AnyQueue]] = {
    "append": lambda: make_queue("append"),
    "append-shedding": lambda: make_queue("append-shedding", capacity=50),
    "append-expiring": lambda: AppendQueue(time_to_live=1e6, forget_after=1e6),
    "adaptive": lambda: AdaptiveQueue(max_waiting=10 * UPDATES),
    "adaptive-conflating": lambda: AdaptiveQueue(max_waiting=10),
    "adaptive-expiring": lambda: AdaptiveQueue(max_age=1e3, time_to_live=1e6, forget_after=1e6),
    "adaptive-asking": lambda: AdaptiveQueue(LinecuttingScheduler(), processing_cost=lambda: 1.0),
    "fifo": lambda: make_queue("fifo"),
    "fifo-expiring": lambda: UpdateQueue(FifoScheduler(), time_to_live=1e6),
    "fifo-forgetting": lambda: UpdateQueue(FifoScheduler(), forget_after=1e6),
    "in-place": lambda: make_queue("in-place", capacity=20),
    "in-place-expiring": lambda: UpdateQueue(
        InPlaceScheduler(), time_to_live=1e6, forget_after=1e6, rates=lambda _: 1.0
    ),
    "pooled": lambda: UpdateQueue(InPlaceScheduler(), memory=new_memory(), codec=AnyCodec()),
    "linecutting": lambda: make_queue("linecutting"),
    "index": lambda: make_queue("index"),
    "paced": lambda: UpdateQueue(PacedScheduler(InPlaceScheduler(), INTERVALS.__getitem__)),
    "windows-lazy": lambda: WindowQueue(WINDOWS, LazyWindowBuffer, InPlaceScheduler()),
    "windows-eager": lambda: WindowQueue(WINDOWS, EagerWindowBuffer, FifoScheduler()),
    "windows-index": lambda: WindowQueue(WINDOWS, EagerWindowBuffer, StalenessIndexScheduler()),
    "windows-pooled": lambda: WindowQueue(
        WINDOWS, LazyWindowBuffer, InPlaceScheduler(), memory=new_memory(), codec=AnyCodec()
    ),
    "windows-append": lambda: AppendWindowQueue(WINDOWS),
    "windows-shedding": lambda: AppendWindowQueue(WINDOWS, shedding=RandomWindowShedding(0.5)),
}


ATTACHABLE = [kind for kind in KINDS if kind != "pooled"]
"""A queue that has a page pool has no other stream but its own."""


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


@pytest.fixture(scope="module", autouse=True)
def only_what_is_made_here() -> None:
    """Let the collector, and `living`, pass over what other tests have made, which is far more."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def uncollected(only_what_is_made_here: None) -> Iterator[None]:
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


def drop(queue: AnyQueue) -> None:
    use(queue)


def drop_in_the_middle_of_windows(queue: AnyQueue) -> None:
    """Drop it with a key forgotten of which something is committed, and a waiting result."""
    use(queue)
    queue.forget(0)
    queue.dequeue()


def drop_when_windows_were_closed_by_time(queue: AnyQueue) -> None:
    """Drop it with windows that `advance` closed, and others that it may close later."""
    use(queue)
    if not isinstance(queue, StreamQueue):
        queue.advance(10.0)
        queue.enqueue(1, Value(), 200.0)
        queue.advance(20.0)
        while queue.dequeue() is not None:
            pass


def drop_but_its_stream(queue: AnyQueue) -> None:
    use(queue)
    stream = queue.stream
    del queue
    if stream is not None:
        with pytest.raises(ClosedError, match="no longer exists"):
            stream.enqueue("key", Value())
        stream.close()


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
    [
        drop,
        drop_in_the_middle_of_windows,
        drop_when_windows_were_closed_by_time,
        drop_but_its_stream,
        close_its_own_stream,
    ],
    ids=lambda end: end.__name__,
)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_what_is_gone(kind: str, end: Callable[[AnyQueue], object]) -> None:
    before = living()
    final = end(KINDS[kind]())
    del final
    assert living() - before == Counter()


@pytest.mark.parametrize(
    "end", [close_an_attached_one, close_the_stream], ids=lambda end: end.__name__
)
@pytest.mark.parametrize("kind", ATTACHABLE)
def test_nothing_is_left_of_what_was_attached(kind: str, end: Callable[[AnyQueue], object]) -> None:
    before = living()
    final = end(KINDS[kind]())
    del final
    assert living() - before == Counter()


@pytest.mark.parametrize("kind", ATTACHABLE)
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


@pytest.mark.parametrize("is_attached", [False, True], ids=["alone", "attached"])
@pytest.mark.parametrize("kind", ATTACHABLE)
def test_nothing_is_left_of_a_key_that_is_not_added(kind: str, is_attached: bool) -> None:
    """Its first update is its deletion, or a batch is refused because of another key."""
    queue = KINDS[kind]()
    stream = Stream()
    if is_attached:
        stream.attach(queue)
    source = stream if is_attached else queue

    def fail_to_come() -> Counter[str]:
        for key in range(KEYS):
            source.enqueue(key, TOMBSTONE, 1.0)
            with pytest.raises(TypeError):
                source.enqueue_many([key, []], [Value(), Value()], [1.0, 1.0])
        for update in queue.dequeue_many(10 * KEYS):
            if isinstance(queue, StreamQueue):
                queue.deliver(update)  # type: ignore[arg-type]  # no windows
        assert queue.dequeue() is None
        return living()

    first = fail_to_come()
    assert fail_to_come() - first == Counter()


def test_nothing_is_left_of_quiet_keys_though_only_one_key_goes_on_updating() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=1.0)
    stream.enqueue("busy", 0)
    before = living()["KeyCell"]
    stream.enqueue_many(list(range(KEYS)), [Value() for _ in range(KEYS)])
    clock.advance(0.5)
    stream.enqueue("busy", 1)
    clock.advance(0.7)
    stream.enqueue("busy", 2)
    assert living()["KeyCell"] == before


def test_a_closed_stream_holds_no_keys() -> None:
    before = living()
    stream = Stream(forget_after=1e6)
    for key in range(KEYS):
        stream.enqueue(key, Value())
    stream.close()
    left = living() - before
    assert left["KeyCell"] == left["Value"] == 0
    del stream


@pytest.mark.parametrize("kind", ATTACHABLE)
def test_nothing_is_left_of_a_stream_that_is_dropped(kind: str) -> None:
    before = living()
    stream = Stream(forget_after=1e6)
    for number in range(UPDATES):
        stream.enqueue(number % KEYS, Value(), float(number // 10))
    queue = KINDS[kind]()
    stream.attach(queue, snapshot=True)
    queue.close()
    del queue, stream
    assert living() - before == Counter()


def test_rounds_of_dropped_append_queues_do_not_add_up() -> None:
    peaks = []
    tracemalloc.start()
    try:
        for _ in range(4):
            queue = AppendQueue()
            for _ in range(5):
                queue.enqueue_many(list(range(1_000)), [Value() for _ in range(1_000)])
                queue.dequeue()
            del queue
            peaks.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert max(peaks) - peaks[0] < 100_000, "a queue takes megabytes"


@pytest.mark.parametrize("kind", KINDS)
def test_a_bound_method_of_a_dropped_queue_is_safe(kind: str) -> None:
    """What is kept is the queue itself, or its stream, which says that the queue is gone."""
    queue = KINDS[kind]()
    use(queue)
    enqueue, enqueue_many = queue.enqueue, queue.enqueue_many
    is_kept = weakref.ref(queue)
    del queue
    if is_kept() is not None:
        enqueue(1, Value(), 200.0)
        enqueue_many([2, 3], [Value(), Value()], [200.0, 200.0])
    else:
        for _ in range(2):
            with pytest.raises(ClosedError, match="no longer exists"):
                enqueue(1, Value(), 200.0)
            with pytest.raises(ClosedError, match="no longer exists"):
                enqueue_many([2, 3], [Value(), Value()], [200.0, 200.0])


def test_a_queue_may_be_dropped_in_the_middle_of_an_update() -> None:
    class Dropping:
        def encode(self, value: object) -> bytes:
            queues.clear()
            return b"value"

        def decode(self, data: bytes) -> object:
            return data

    queue = UpdateQueue(InPlaceScheduler(), memory=new_memory(), codec=Dropping())
    queues = [queue]
    stream = queue.stream
    enqueue = stream.enqueue
    del queue
    enqueue("IBM", 24.0)
    assert not queues
    with pytest.raises(ClosedError, match="no longer exists"):
        enqueue("IBM", 25.0)
    assert stream.statistics().arrived == 1
    stream.close()


@pytest.mark.parametrize("kind", KINDS)
def test_the_collector_may_find_a_queue_in_any_state(kind: str) -> None:
    before = living()
    for _ in range(3):
        queue = KINDS[kind]()
        use(queue)
        holder: list[object] = [queue, queue.stream]
        holder.append(holder)
        del queue, holder
    gc.collect()
    assert living() - before == Counter()
