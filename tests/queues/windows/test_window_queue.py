"""The window queue: which key is served, and how it goes from state to state."""

from __future__ import annotations

import random

import pytest

from upstream import (
    SCHEDULERS,
    TOMBSTONE,
    AlreadyAttachedError,
    BytesCodec,
    EagerWindowBuffer,
    FifoScheduler,
    InPlaceScheduler,
    JsonCodec,
    LazyWindowBuffer,
    ManualClock,
    OnDemandMemory,
    PagePool,
    ParameterError,
    Scheduler,
    StalenessIndexScheduler,
    Stream,
    UnknownKeyError,
    UpdateQueue,
    WindowMark,
    WindowQueue,
    WindowSpecification,
)

from ..window_kinds import BUFFERS, SLIDING, TUMBLING, Buffer, Consumer, eager, feed, lazy


@pytest.mark.parametrize("policy", SCHEDULERS)
@BUFFERS
@pytest.mark.parametrize("seed", range(10))
def test_every_scheduler_serves_every_window_once_and_whole(
    policy: str, buffer: Buffer, seed: int
) -> None:
    chance = random.Random(seed)
    clock = ManualClock()
    queue = WindowQueue(
        chance.choice([TUMBLING, SLIDING, WindowSpecification(5, 2)]),
        buffer,
        SCHEDULERS[policy](),
        clock=clock,
    )
    consumer = Consumer(queue, clock)
    times = dict.fromkeys("abcd", 0.0)
    for _ in range(150):
        key = chance.choice("aaabbcd")
        times[key] += chance.choice([1, 1, 1, 2, 5])
        clock.advance(chance.choice([0, 0.5]))
        queue.enqueue(key, times[key], time=times[key])
        if chance.random() < 0.5:
            consumer.serve(chance.randint(1, 4), cost=0.3)
    queue.advance(1e6)
    consumer.serve()
    seen = [(result.key, result.end) for result in consumer.results]
    assert len(seen) == len(set(seen)) == queue.statistics().windows.committed
    for key in "abcd":
        ends = [end for name, end in seen if name == key]
        assert ends == sorted(ends)
    statistics = queue.statistics()
    assert statistics.windows.held == statistics.waiting == statistics.in_process == 0


def test_fifo_serves_the_key_whose_newest_window_is_the_oldest(clock: ManualClock) -> None:
    queue = WindowQueue(TUMBLING, LazyWindowBuffer, FifoScheduler(), clock=clock)
    for time in range(7):
        clock.set(time)
        queue.enqueue("a", time, time=time)  # its windows are closed at 3 and 6
        if time < 4:
            queue.enqueue("b", time, time=time)  # its window is closed at 3
    assert [one.key for one in queue.dequeue_many(8)] == ["b"] * 4 + ["a"] * 4


def test_in_place_serves_the_key_that_has_waited_longest(clock: ManualClock) -> None:
    queue = lazy(TUMBLING, clock=clock)
    for time in range(7):
        clock.set(time)
        queue.enqueue("a", time, time=time)
        if time < 4:
            queue.enqueue("b", time, time=time)
    assert [one.key for one in queue.dequeue_many(8)] == ["a"] * 4 + ["b"] * 4


def test_the_index_goes_by_weights(clock: ManualClock) -> None:
    scheduler = StalenessIndexScheduler(weight={"b": 100.0})
    queue = WindowQueue(TUMBLING, LazyWindowBuffer, scheduler, clock=clock)
    assert queue.scheduler is scheduler
    for time in range(4):
        clock.set(time)
        for key in "ab":
            queue.enqueue(key, time, time=time)
    clock.advance(1)
    first = queue.dequeue()
    assert first is not None
    assert first.key == "b"


def test_queue_staleness_is_that_of_closed_windows_for_lazy_and_started_ones_for_eager() -> None:
    for make, since in ((lazy, 2), (eager, 0)):
        clock = ManualClock()
        queue = make(SLIDING, clock=clock)
        feed(queue, "IBM", range(4), clock=clock)
        clock.set(5)
        assert queue.queue_staleness("IBM") == pytest.approx((5 - since) ** 2 / 2 / 5)
        queue.dequeue()
        assert queue.staleness_by_key() == {"IBM": queue.queue_staleness("IBM")}
        clock.set(10)
        assert queue.queue_staleness("IBM") == pytest.approx((5 - since) ** 2 / 2 / 10)


@BUFFERS
def test_the_window_that_waits_can_be_read(buffer: Buffer) -> None:
    queue = WindowQueue(TUMBLING, buffer, InPlaceScheduler())
    assert queue.read("IBM") is None
    feed(queue, "IBM", range(5))
    waiting = queue.read("IBM")
    assert waiting is not None
    assert [update.time for update in waiting] == {
        LazyWindowBuffer: [0, 1, 2],
        EagerWindowBuffer: [3, 4],
    }[buffer]
    assert queue.dequeue() is not None
    assert queue.read("IBM") is None


class TestAbort:
    @pytest.mark.parametrize("windows", [TUMBLING, SLIDING], ids=["tumbling", "sliding"])
    @BUFFERS
    def test_the_rest_of_the_window_never_leaves(
        self, windows: WindowSpecification, buffer: Buffer
    ) -> None:
        queue = WindowQueue(windows, buffer, InPlaceScheduler())
        consumer = Consumer(queue)
        feed(queue, "IBM", range(4))
        consumer.serve(1)
        assert queue.abort("IBM")
        assert not queue.abort("IBM")
        queue._check()
        feed(queue, "IBM", range(4, 12))
        queue.advance(99)
        consumer.serve()
        assert consumer.aborts == ["IBM"]
        assert consumer.collect.open_windows == 0
        statistics = queue.statistics()
        assert statistics.aborted == 1
        assert statistics.windows.committed == 1 + len(consumer.results) > 1
        for result in consumer.results:
            assert result.value == [t for t in range(12) if result.start <= t < result.end]

    def test_an_idle_key_is_served_its_abort(self) -> None:
        queue = eager(TUMBLING)
        assert isinstance(queue, WindowQueue)
        feed(queue, "IBM", [0])
        queue.dequeue_many(2)
        assert queue.abort("IBM")
        ending = queue.dequeue()
        assert ending is not None
        assert (ending.mark, ending.key) == (WindowMark.ABORT, "IBM")

    def test_there_is_nothing_to_abort_of_a_key_that_is_not_under_processing(self) -> None:
        queue = lazy(TUMBLING)
        assert isinstance(queue, WindowQueue)
        feed(queue, "IBM", range(4))
        assert not queue.abort("IBM")
        with pytest.raises(UnknownKeyError):
            queue.abort("MSFT")

    @BUFFERS
    def test_abort_ends_a_window_with_a_tuple_that_cannot_be_decoded(self, buffer: Buffer) -> None:
        class Failing(BytesCodec):
            def decode(self, data: bytes) -> object:
                if data == b"1":
                    raise ValueError("no number that anybody could read")
                return data

        pool = PagePool(4096)
        memory = OnDemandMemory(pool, location_bytes=64)
        queue = WindowQueue(TUMBLING, buffer, InPlaceScheduler(), memory=memory, codec=Failing())
        for time in range(3):
            queue.enqueue("IBM", b"%d" % time, time=time)
        queue.advance(3)
        consumer = Consumer(queue)
        for _ in range(2):  # nothing is lost, so it fails again
            with pytest.raises(ValueError, match="no number"):
                consumer.serve()
            queue._check()
        assert queue.abort("IBM")
        assert [one.mark for one in consumer.serve()] == [WindowMark.ABORT]
        assert pool.pages_in_use == 0


class TestParameters:
    @pytest.mark.parametrize("wrong", ["lazy", None, LazyWindowBuffer(TUMBLING), int])
    def test_the_buffer_is_a_class(self, wrong: object) -> None:
        with pytest.raises(ParameterError, match="LazyWindowBuffer or EagerWindowBuffer, not"):
            WindowQueue(TUMBLING, wrong, InPlaceScheduler())  # type: ignore[arg-type]

    @BUFFERS
    def test_a_buffer_without_windows_stands_for_its_class(self, buffer: Buffer) -> None:
        queues = [WindowQueue(TUMBLING, each, InPlaceScheduler()) for each in (buffer, buffer())]
        for queue in queues:
            feed(queue, "IBM", range(5))
        assert queues[0].dequeue_many(9) == queues[1].dequeue_many(9) != []

    @pytest.mark.parametrize("wrong", ["in-place", None, InPlaceScheduler])
    def test_the_scheduler_is_one(self, wrong: Scheduler) -> None:
        with pytest.raises(ParameterError, match="scheduler must be a scheduler object such as"):
            WindowQueue(TUMBLING, LazyWindowBuffer, wrong)

    def test_a_scheduler_serves_one_queue(self) -> None:
        scheduler = InPlaceScheduler()
        UpdateQueue(scheduler)
        with pytest.raises(AlreadyAttachedError):
            WindowQueue(TUMBLING, LazyWindowBuffer, scheduler)

    def test_a_codec_comes_with_a_memory(self) -> None:
        with pytest.raises(ParameterError, match="codec"):
            lazy(TUMBLING, codec=JsonCodec())

    @pytest.mark.parametrize(
        ("name", "wrong"), [("memory", PagePool(4096)), ("memory", 5), ("codec", "json")]
    )
    def test_a_memory_and_a_codec_are_what_they_are_called(self, name: str, wrong: object) -> None:
        options = {"memory": OnDemandMemory(PagePool(4096)), name: wrong}
        with pytest.raises(ParameterError, match=f"^{name} must be a {name}, such as"):
            lazy(TUMBLING, **options)

    def test_a_memory_serves_one_queue(self) -> None:
        memory = OnDemandMemory(PagePool(4096))
        lazy(TUMBLING, memory=memory)
        with pytest.raises(AlreadyAttachedError):
            lazy(TUMBLING, memory=memory)

    @pytest.mark.parametrize("wrong", [0, -1, 1.5, None])
    def test_the_limit_of_what_is_in_process_is_a_count(self, wrong: int) -> None:
        with pytest.raises(ParameterError, match="in_process_limit"):
            lazy(TUMBLING, in_process_limit=wrong)


def test_aborting_a_window_that_shares_tuples_with_the_next_keeps_the_laws() -> None:
    queue = WindowQueue(WindowSpecification(4, 1), EagerWindowBuffer, InPlaceScheduler())
    for time in range(2):
        queue.enqueue("IBM", time, time=time)
        queue.dequeue()
    assert queue.abort("IBM")
    queue._check()


def test_a_key_that_stood_back_waits_no_more_when_the_queue_is_closed() -> None:
    queue = WindowQueue(WindowSpecification(4, 1), EagerWindowBuffer, InPlaceScheduler())
    for time in range(2):
        queue.enqueue("IBM", time, time=time)
        queue.dequeue_many(2)
    assert len(queue) == 1
    queue.close()
    assert len(queue) == 0


@BUFFERS
def test_a_key_deleted_from_a_stream_goes_when_all_queues_of_windows_have_read_it(
    buffer: Buffer, stream: Stream
) -> None:
    queues = [WindowQueue(TUMBLING, buffer, InPlaceScheduler()) for _ in range(2)]
    for queue in queues:
        stream.attach(queue)
    stream.enqueue("IBM", 24.0, time=1.0)
    stream.enqueue("IBM", TOMBSTONE, time=1.0)
    stream.enqueue("IBM", 23.0, time=0.0)  # late, and must not bring it back
    assert stream.statistics().keys == 1
    for queue in queues:
        assert queue.statistics().keys == 0
        assert queue.statistics().tuples.late == 1
        queue._check()
    assert stream.statistics().keys == 0
