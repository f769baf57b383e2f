"""Window queues whose tuples are in a page pool, and codecs that cannot do a value."""

from __future__ import annotations

import random

import pytest

from upstream import (
    BytesCodec,
    EagerWindowBuffer,
    InPlaceScheduler,
    JsonCodec,
    LazyWindowBuffer,
    ManualClock,
    NaiveMemory,
    OnDemandMemory,
    Outcome,
    PagePool,
    PagePoolFullError,
    Stream,
    ValueTooLargeError,
    WindowMark,
    WindowQueue,
    WindowSpecification,
)

from ..window_kinds import BUFFERS, SLIDING, TUMBLING, Buffer, Consumer

MakeMemory = type[OnDemandMemory | NaiveMemory]


@pytest.mark.parametrize("memory", [OnDemandMemory, NaiveMemory])
@BUFFERS
class TestMemory:
    @pytest.mark.parametrize("seed", range(10))
    def test_it_does_what_a_queue_without_a_pool_does(
        self, buffer: Buffer, memory: MakeMemory, seed: int
    ) -> None:
        chance = random.Random(seed)
        pool = PagePool(1 << 18)
        windows = chance.choice([TUMBLING, SLIDING, WindowSpecification(5, 2)])
        plain = WindowQueue(windows, buffer, InPlaceScheduler(), clock=ManualClock())
        paged = WindowQueue(
            windows,
            buffer,
            InPlaceScheduler(),
            clock=ManualClock(),
            memory=memory(pool, location_bytes=chance.choice([16, 100, 512])),
            codec=JsonCodec(),
        )
        time = 0.0
        for _ in range(120):
            time += chance.choice([0, 1, 1, 3])
            key, value = chance.choice("ab"), "x" * chance.randint(0, 99)
            assert plain.enqueue(key, value, time=time) is paged.enqueue(key, value, time=time)
            many = chance.randint(0, 2)
            assert plain.dequeue_many(many) == paged.dequeue_many(many)
            assert plain.read(key) == paged.read(key)
            paged._check()
        assert plain.statistics() == paged.statistics()
        paged.advance(1e6)
        consumer = Consumer(paged)
        consumer.serve()
        if memory is OnDemandMemory:
            assert pool.pages_in_use == 0, "all keys have drained"
        paged.close()
        assert pool.pages_in_use == 0

    def test_usage_counts_blocks(self, buffer: Buffer, memory: MakeMemory) -> None:
        clock = ManualClock()
        held = memory(PagePool(4096), location_bytes=64)
        queue = WindowQueue(TUMBLING, buffer, InPlaceScheduler(), clock=clock, memory=held)
        feed_bytes(queue, "a", [0, 1, 2])
        usage = queue.memory_usage()
        assert usage is not None
        assert usage.locations_held == usage.locations_live > 0
        clock.advance(2)
        Consumer(queue).serve()
        queue.advance(9)
        Consumer(queue).serve()
        after = queue.memory_usage()
        assert after is not None
        assert after.locations_live == 0
        assert after.locations_held == (0 if memory is OnDemandMemory else usage.locations_held)
        assert after.average_usage_locations == pytest.approx(usage.locations_held)

    def test_usage_is_by_the_clock_of_the_stream_whose_values_were_taken_over(
        self, buffer: Buffer, memory: MakeMemory
    ) -> None:
        clock = ManualClock(100.0)
        stream = Stream(clock=clock)
        stream.enqueue("a", b"value", 0)
        held = memory(PagePool(4096), location_bytes=64)
        queue = WindowQueue(
            TUMBLING, buffer, InPlaceScheduler(), clock=ManualClock(500.0), memory=held
        )
        stream.attach(queue, snapshot=True)
        clock.advance(2)
        stream.enqueue("b", b"value", 0)
        clock.advance(2)
        usage = queue.memory_usage()
        assert usage is not None
        assert usage.average_usage_locations == pytest.approx(1.5)

    def test_a_full_pool_rejects_tuples_and_no_window_has_a_hole(
        self, buffer: Buffer, memory: MakeMemory
    ) -> None:
        pool = PagePool(256, page_bytes=128)
        queue = WindowQueue(
            WindowSpecification(4, 2),
            buffer,
            InPlaceScheduler(),
            memory=memory(pool, location_bytes=32),
            codec=BytesCodec(),
        )
        chance = random.Random(5)
        capacities = set()
        consumer = Consumer(queue)
        refused: dict[str, list[float]] = {"a": [], "b": [], "c": []}
        kept: dict[str, list[float]] = {"a": [], "b": [], "c": []}
        for time in range(300):
            for key in "abc":
                try:
                    outcome = queue.enqueue(key, b"%d" % time + b" " * 9, time=time)
                except PagePoolFullError as error:
                    capacities.add(error.capacity)
                    refused[key].append(time)
                else:
                    assert outcome is not Outcome.REJECTED
                    kept[key].append(time)
                queue._check()
            consumer.serve(chance.randint(0, 12))
        assert capacities == {256}
        statistics = queue.statistics()
        assert statistics.tuples.rejected == sum(map(len, refused.values())) > 0
        assert statistics.windows.rejected > 0
        assert (statistics.aborted > 0) == (buffer is EagerWindowBuffer)
        assert len(consumer.results) > 10
        for result in consumer.results:
            key = str(result.key)
            inside = [one for one in kept[key] if result.start <= one < result.end]
            assert isinstance(result.value, list)
            assert [int(value) for value in result.value] == inside
            assert not any(result.start <= one < result.end for one in refused[key])
        queue.close()
        assert pool.pages_in_use == 0

    def test_a_batch_counts_what_the_pool_refuses(self, buffer: Buffer, memory: MakeMemory) -> None:
        queue = WindowQueue(
            WindowSpecification(100, 100),
            buffer,
            InPlaceScheduler(),
            memory=memory(PagePool(256, page_bytes=128), location_bytes=32),
        )
        batch = queue.enqueue_many(["a"] * 20, [b"x" * 20] * 20, [float(row) for row in range(20)])
        # A record takes 12 bytes and its value, so 8 fit; the others are in a window that is gone.
        assert (batch.waiting, batch.rejected, batch.outside) == (8, 1, 11)
        assert batch.rejected_rows == (8,)
        assert queue.statistics().is_balanced

    def test_a_value_that_never_fits_is_an_error(self, buffer: Buffer, memory: MakeMemory) -> None:
        held = memory(PagePool(256, page_bytes=128), location_bytes=32)
        queue = WindowQueue(TUMBLING, buffer, InPlaceScheduler(), memory=held)
        feed_bytes(queue, "a", [0])
        before = queue.statistics()
        for length in (10_000, 256, 245):  # with its header of 12 bytes, a record of 257
            with pytest.raises(ValueTooLargeError):
                queue.enqueue("a", b"x" * length, time=3)
            assert queue.statistics() == before
        queue._check()


def feed_bytes(queue: WindowQueue, key: str, times: list[float]) -> None:
    for time in times:
        queue.enqueue(key, b"24.0", time=time)
        queue._check()


class TestCodecsThatFail:
    """A tuple that cannot be decoded stays, whatever is raised, and nothing else is lost."""

    @pytest.mark.parametrize("error", [IndexError, KeyError, ValueError])
    @BUFFERS
    def test_an_exception_of_the_codec_reaches_the_caller(
        self, buffer: Buffer, error: type[Exception]
    ) -> None:
        queue = WindowQueue(
            TUMBLING,
            buffer,
            InPlaceScheduler(),
            memory=OnDemandMemory(PagePool(4096), location_bytes=64),
            codec=FailingOn(b"1", error),
        )
        for key in ("good", "bad"):
            for time in range(3):
                value = b"%d" % time if key == "bad" else b"g"
                queue.enqueue(key, value, time=time)
        queue.advance(3)
        taken = queue.dequeue_many(99)
        assert [one.key for one in taken] == ["good"] * 4 + ["bad"]
        for _ in range(2):
            with pytest.raises(error):
                queue.dequeue_many(99)
        queue._check()
        assert queue.abort("bad")
        assert queue.dequeue_many(99)[0].mark is WindowMark.ABORT

    def test_no_window_lacks_what_an_attached_queue_could_not_encode(self, stream: Stream) -> None:
        queue = WindowQueue(
            TUMBLING,
            LazyWindowBuffer,
            InPlaceScheduler(),
            memory=OnDemandMemory(PagePool(4096), location_bytes=64),
            codec=FailingOn(b"1", RuntimeError),
        )
        stream.attach(queue)
        stream.enqueue("IBM", b"0", time=0)
        stream.enqueue("IBM", b"1", time=1)  # its source has nothing to do with the codec
        for time in (2, 3, 4, 6):
            stream.enqueue("IBM", b"2", time=time)
        with pytest.raises(RuntimeError):
            queue.dequeue()
        statistics = queue.statistics()
        assert (statistics.tuples.arrived, statistics.tuples.rejected) == (6, 1)
        assert statistics.windows.rejected == 1
        assert [update.time for update in queue.read("IBM") or []] == [3, 4]


class FailingOn(BytesCodec):
    """A codec that cannot do one value."""

    def __init__(self, bad: bytes, error: type[Exception]) -> None:
        self.bad = bad
        self.error = error

    def encode(self, value: object) -> bytes:
        if value == self.bad and self.error is RuntimeError:
            raise self.error
        return super().encode(value)

    def decode(self, data: bytes) -> object:
        if data == self.bad:
            raise self.error
        return data
