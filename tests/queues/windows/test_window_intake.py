"""How tuples come into a queue of windows: one by one, in batches, and from a stream."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from upstream import (
    TOMBSTONE,
    AlreadyAttachedError,
    AppendQueue,
    ClosedError,
    ColumnLengthError,
    EagerWindowBuffer,
    InPlaceScheduler,
    JsonCodec,
    KeyNotHashableError,
    LazyWindowBuffer,
    ManualClock,
    OnDemandMemory,
    Outcome,
    PagePool,
    RateError,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    TimeNotFiniteError,
    TimeOutOfRangeError,
    UpdateQueue,
    ValueNotEncodableError,
    WeightError,
    WindowQueue,
    WindowSpecification,
)

from ..window_kinds import Consumer, MakeQueue, every_kind, feed, lazy

WINDOWS = WindowSpecification(3, 3)


@every_kind
def test_the_outcome_says_what_became_of_a_tuple(make: MakeQueue) -> None:
    queue = make(WindowSpecification(2, 5))
    assert [queue.enqueue("IBM", 0, time=time) for time in (0, 1, 0.5, 3)] == [
        Outcome.WAITING,
        Outcome.WAITING,
        Outcome.LATE,
        Outcome.OUTSIDE,
    ]


def test_a_window_that_replaces_a_waiting_one_has_the_outcome_superseded() -> None:
    queue = lazy(WINDOWS)
    outcomes = [queue.enqueue("IBM", 0, time=time) for time in range(8)]
    assert outcomes.index(Outcome.SUPERSEDED) == 6
    assert outcomes.count(Outcome.SUPERSEDED) == 1


@every_kind
def test_the_time_defaults_to_the_clocks(make: MakeQueue) -> None:
    clock = ManualClock(6)
    queue = make(WINDOWS, clock=clock)
    queue.enqueue("IBM", "first")
    clock.advance(3)
    queue.enqueue("IBM", "second")
    consumer = Consumer(queue)
    queue.advance(100)
    consumer.serve()
    last = consumer.results[-1]
    assert (last.start, last.value) == (9.0, ["second"])


@every_kind
@pytest.mark.parametrize("seed", range(20))
def test_a_batch_gives_what_row_by_row_gives(make: MakeQueue, seed: int) -> None:
    chance = random.Random(seed)
    windows = chance.choice([WINDOWS, WindowSpecification(3, 1, 1), WindowSpecification(2, 5)])
    one, many = make(windows, clock=ManualClock()), make(windows, clock=ManualClock())
    for _ in range(5):
        times = [chance.randint(0, 30) for _ in range(20)]
        times = times if chance.random() < 0.5 else sorted(times)
        keys = [chance.choice("ab") for _ in times]
        outcomes = [one.enqueue(*row) for row in zip(keys, times, map(float, times), strict=True)]
        batch = many.enqueue_many(keys, times, np.array(times, dtype=float))
        assert batch.waiting == outcomes.count(Outcome.WAITING)
        assert batch.superseded == outcomes.count(Outcome.SUPERSEDED)
        assert batch.late == outcomes.count(Outcome.LATE)
        assert batch.outside == outcomes.count(Outcome.OUTSIDE)
        assert one.dequeue_many(7) == many.dequeue_many(7)
        assert one.statistics() == many.statistics()
        many._check()


@every_kind
@pytest.mark.parametrize(
    ("keys", "times", "error"),
    [
        (["a", []], [0.0, 0.0], KeyNotHashableError),
        (["a", math.nan], [0.0, 0.0], KeyNotHashableError),
        (["a", "b"], [0.0, math.nan], TimeNotFiniteError),
        (["a", "b"], [0.0, 1e300], TimeOutOfRangeError),
        (["a", "b"], [-1e300, 0.0], TimeOutOfRangeError),
        (["a"], [0.0, 0.0], ColumnLengthError),
    ],
)
def test_a_bad_row_keeps_the_whole_batch_out(
    make: MakeQueue, keys: list[object], times: list[float], error: type[Exception]
) -> None:
    queue = make(WINDOWS)
    with pytest.raises(error):
        queue.enqueue_many(keys, [1, 2], times)
    assert queue.statistics().tuples.arrived == queue.statistics().keys == 0
    queue._check()


@every_kind
def test_the_bad_row_of_a_batch_is_named(make: MakeQueue) -> None:
    with pytest.raises(TimeOutOfRangeError, match=r"^row 1: time 1e\+300 is too far") as caught:
        make(WINDOWS).enqueue_many(["a", "b"], [1, 2], [0.0, 1e300])
    assert caught.value.row == 1


@every_kind
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("time", "error"),
    [
        (math.nan, TimeNotFiniteError),
        (math.inf, TimeNotFiniteError),
        (-math.inf, TimeNotFiniteError),
        ("1", TimeNotFiniteError),
        (1e300, TimeOutOfRangeError),
        (-1e300, TimeOutOfRangeError),
    ],
)
@pytest.mark.parametrize("value", [1, TOMBSTONE])
def test_a_bad_time_is_an_error_and_changes_nothing(
    make: MakeQueue, value: object, time: float, error: type[Exception], *, known: bool
) -> None:
    queue = make(WINDOWS)
    if known:
        feed(queue, "IBM", [0, 1])
    before = queue.statistics()
    with pytest.raises(error):
        queue.enqueue("IBM", value, time=time)
    assert queue.statistics() == before
    queue._check()


@every_kind
def test_a_key_that_cannot_be_one_is_an_error(make: MakeQueue) -> None:
    queue = make(WINDOWS)
    bad: list[object] = [[], math.nan, {}]
    for key in bad:
        with pytest.raises(KeyNotHashableError):
            queue.enqueue(key, 1, time=0)
        with pytest.raises(KeyNotHashableError):
            queue.enqueue(key, TOMBSTONE, time=0)
    assert queue.statistics().keys == 0


@every_kind
def test_a_tombstone_forgets_its_key(make: MakeQueue) -> None:
    queue = make(WINDOWS)
    feed(queue, "IBM", [0, 1])
    assert queue.enqueue("IBM", TOMBSTONE, time=0.5) is Outcome.LATE
    assert queue.enqueue("IBM", TOMBSTONE, time=2) is Outcome.OUTSIDE
    assert queue.enqueue("MSFT", TOMBSTONE, time=2) is Outcome.OUTSIDE
    statistics = queue.statistics()
    assert (statistics.keys, statistics.forgotten) == (0, 1)
    assert (statistics.windows.superseded, statistics.tuples.dropped) == (1, 2)
    assert statistics.tuples.outside == 2
    queue._check()
    feed(queue, "IBM", [0, 1, 3])  # a new life, in which 0 is not late
    consumer = Consumer(queue)
    queue.advance(9)
    consumer.serve()
    assert consumer.results[-1].value == [3] or consumer.results[0].value == [0, 1]


def test_a_key_with_an_invalid_weight_or_rate_is_not_added() -> None:
    weighted = WindowQueue(
        WINDOWS, LazyWindowBuffer, StalenessIndexScheduler(weight=lambda _: -1.0)
    )
    with pytest.raises(WeightError):
        weighted.enqueue("IBM", 1, time=0)
    rated = lazy(WINDOWS, rates=lambda _: math.nan)
    with pytest.raises(RateError):
        rated.enqueue_many(["a"], [1], [0.0])
    for queue in (weighted, rated):
        assert queue.statistics().keys == queue.statistics().tuples.arrived == 0


def test_a_value_that_cannot_be_encoded_is_an_error_and_changes_nothing() -> None:
    queue = lazy(WINDOWS, memory=OnDemandMemory(PagePool(4096)), codec=JsonCodec())
    feed(queue, "IBM", [0, 1])
    before = queue.statistics()
    with pytest.raises(ValueNotEncodableError):
        queue.enqueue("IBM", object(), time=3)
    with pytest.raises(ValueNotEncodableError, match=r"^row 1: "):
        queue.enqueue_many(["a", "b"], [1, object()], [0.0, 0.0])
    assert queue.statistics() == before
    queue._check()


class TestAttached:
    @every_kind
    @pytest.mark.parametrize("seed", range(5))
    def test_a_queue_that_is_attached_does_what_one_of_its_own_does(
        self, make: MakeQueue, seed: int
    ) -> None:
        chance = random.Random(seed)
        clock = ManualClock()
        windows = chance.choice([WINDOWS, WindowSpecification(3, 1, 1), WindowSpecification(2, 5)])
        stream, attached, own = Stream(clock=clock), make(windows), make(windows, clock=clock)
        others: list[StreamQueue] = [AppendQueue(), UpdateQueue(InPlaceScheduler())]
        stream.attach(attached)
        for other in others:
            stream.attach(other)
        for time in range(100):
            clock.advance(1)
            for key in "abc":
                if chance.random() < 0.6:
                    late = chance.choice([0, 0, 0, 4])
                    stream.enqueue(key, time, time=time - late)
                    own.enqueue(key, time, time=time - late)
            if chance.random() < 0.5:
                assert attached.dequeue_many(3) == own.dequeue_many(3)
            if chance.random() < 0.1:
                assert attached.statistics() == own.statistics()
                assert attached.queue_staleness() == pytest.approx(own.queue_staleness())
                assert attached.application_staleness() == pytest.approx(
                    own.application_staleness()
                )
        attached._check()
        assert stream.detach(attached) == own.close()

    @every_kind
    def test_enqueue_goes_to_the_stream(self, make: MakeQueue) -> None:
        stream, queue = Stream(clock=ManualClock()), make(WINDOWS)
        assert not queue.is_attached
        stream.attach(queue)
        assert queue.is_attached
        assert queue.stream is stream
        queue.enqueue("IBM", 24.0, time=0)
        queue.enqueue_many(["MSFT"], [410.0], [0.0])
        assert stream.read("MSFT") is not None
        assert queue.statistics().tuples.arrived == 2

    @every_kind
    def test_a_queue_can_start_from_the_newest_values(self, make: MakeQueue) -> None:
        stream, queue = Stream(clock=ManualClock()), make(WINDOWS)
        stream.enqueue_many(["a", "a", "b"], [1, 2, 3], [0.0, 3.0, 3.0])
        stream.attach(queue, snapshot=True)
        queue.advance(6)
        consumer = Consumer(queue)
        consumer.serve()
        assert [(result.key, result.value) for result in consumer.results] == [
            ("a", [2]),
            ("b", [3]),
        ]

    @every_kind
    def test_a_queue_can_start_from_what_arrived_since_some_moment(self, make: MakeQueue) -> None:
        clock = ManualClock()
        stream, queue = Stream(clock=clock), make(WINDOWS)
        for moment, key in enumerate("abca"):
            clock.set(moment)
            stream.enqueue(key, moment, time=3.0 * moment)
        stream.attach(queue, snapshot=True, since=2.0)
        assert queue.statistics().tuples.arrived == 2
        queue.advance(12)
        consumer = Consumer(queue)
        consumer.serve()
        assert [(result.key, result.value) for result in consumer.results] == [
            ("c", [2]),
            ("a", [3]),
        ]

    @every_kind
    def test_a_queue_that_was_used_cannot_be_attached(self, make: MakeQueue) -> None:
        used, attached, closed = make(WINDOWS), make(WINDOWS), make(WINDOWS)
        used.enqueue("IBM", 1, time=0)
        Stream().attach(attached)
        closed.close()
        for queue, error in (
            (used, AlreadyAttachedError),
            (attached, AlreadyAttachedError),
            (closed, ClosedError),
        ):
            with pytest.raises(error):
                Stream().attach(queue)

    @every_kind
    def test_forgetting_and_deleting_reach_the_queue(self, make: MakeQueue) -> None:
        clock = ManualClock()
        stream, queue = Stream(clock=clock, forget_after=10), make(WINDOWS)
        stream.attach(queue)
        for key in "abc":
            stream.enqueue(key, 1, time=0)
        queue.forget("a")
        stream.enqueue("b", TOMBSTONE, time=1)
        assert queue.statistics().keys == 1
        queue.dequeue()
        clock.advance(11)
        queue._check()
        is_held = queue.statistics().under_processing + queue.statistics().idle + len(queue)
        assert queue.statistics().keys == (1 if is_held else 0)

    @every_kind
    def test_a_tuple_whose_windows_cannot_be_computed_is_counted_as_outside(
        self, make: MakeQueue
    ) -> None:
        stream, queue = Stream(clock=ManualClock()), make(WINDOWS)
        stream.attach(queue)
        stream.enqueue("IBM", 1, time=1e300)
        assert queue.statistics().tuples.outside == 1
        assert queue.statistics().is_balanced

    @pytest.mark.parametrize("buffer", [LazyWindowBuffer, EagerWindowBuffer])
    def test_a_value_that_cannot_be_encoded_takes_its_windows_with_it(
        self, buffer: type[LazyWindowBuffer | EagerWindowBuffer]
    ) -> None:
        pool = PagePool(1 << 16)
        queue = WindowQueue(
            WINDOWS,
            buffer,
            InPlaceScheduler(),
            memory=OnDemandMemory(pool, location_bytes=64),
            codec=JsonCodec(),
        )
        stream = Stream(clock=ManualClock())
        stream.attach(queue)
        for time, value in enumerate([1, 2, 3, 4, object(), 6, 7, 8, 9]):
            stream.enqueue("IBM", value, time=time)
        assert queue.statistics().tuples.rejected == 1
        assert queue.statistics().windows.rejected == 1
        queue.advance(99)
        consumer = Consumer(queue)
        consumer.serve()
        assert [result.value for result in consumer.results] == [[7, 8, 9]]
        queue.close()
        assert pool.pages_in_use == 0

    @every_kind
    def test_after_detaching_only_the_statistics_can_be_read(self, make: MakeQueue) -> None:
        stream, queue = Stream(clock=ManualClock()), make(WINDOWS)
        stream.attach(queue)
        stream.enqueue("IBM", 1, time=0)
        final = stream.detach(queue)
        assert final == queue.statistics() == queue.close()
        assert final.tuples.arrived == 1
        with pytest.raises(ClosedError):
            queue.enqueue("IBM", 1, time=1)
        stream.enqueue("IBM", 1, time=1)
