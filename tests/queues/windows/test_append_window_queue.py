"""The append window queue: every window, tuples as they arrived, and windows shed at random."""

from __future__ import annotations

import pytest

from upstream import (
    Aggregate,
    AppendWindowQueue,
    ManualClock,
    ParameterError,
    RandomWindowShedding,
    WindowMark,
    WindowSpecification,
)

from ..window_kinds import Consumer, feed


def test_tuples_leave_once_in_the_order_of_arrival_over_all_keys() -> None:
    queue = AppendWindowQueue(WindowSpecification(3, 1, tick=1))
    for time in range(4):
        for key in "ab":
            queue.enqueue(key, time, time=time)
    updates = [one.update for one in queue.dequeue_many(99) if one.update is not None]
    assert [(update.key, update.time) for update in updates] == [
        (key, time) for time in range(4) for key in "ab"
    ]


def test_every_starter_opens_its_windows() -> None:
    queue = AppendWindowQueue(WindowSpecification(4, 2))
    feed(queue, "IBM", [0, 1, 2, 3, 4])
    marks = [one.mark for one in queue.dequeue_many(99)]
    # time 0: until 4; 2: until 6; at 4 the first is closed, and that from 4 to 8 is opened
    assert marks == [4.0, -1, 6.0, -1, WindowMark.CLOSE, 8.0]


def test_a_starter_of_several_windows_opens_all_of_them() -> None:
    queue = AppendWindowQueue(WindowSpecification(3, 1))
    feed(queue, "IBM", [0, 10, 11, 12, 20])
    consumer = Consumer(queue)
    consumer.serve()
    assert [(result.start, result.value) for result in consumer.results] == [
        (0, [0]),
        (8, [10]),
        (9, [10, 11]),
        (10, [10, 11, 12]),
        (11, [11, 12]),
        (12, [12]),
    ]


def test_the_operator_works_on_up_to_overlap_windows_with_each_tuple() -> None:
    """Figure 13(b): processing every window costs a tuple once per window that it is in."""
    steps = {}
    for size in (1, 4, 16):
        queue = AppendWindowQueue(WindowSpecification(size, 1, tick=1))
        total = Aggregate("sum")
        for time in range(200):
            queue.enqueue("IBM", 1, time=time)
            while (window_tuple := queue.dequeue()) is not None:
                total.process(window_tuple)
                assert total.open_windows <= size
        steps[size] = total.steps
    assert steps == {1: 200, 4: 4 * 200 - 6, 16: 16 * 200 - 120}


class TestShedding:
    @pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
    def test_it_drops_that_share_of_the_windows(self, share: float) -> None:
        queue = AppendWindowQueue(
            WindowSpecification(3, 1, tick=1), shedding=RandomWindowShedding(share, seed=7)
        )
        feed(queue, "IBM", range(1_000))
        windows = queue.statistics().windows
        assert windows.shed / windows.opened == pytest.approx(share, abs=0.05)

    def test_windows_that_are_not_shed_are_whole(self) -> None:
        queue = AppendWindowQueue(WindowSpecification(4, 1), shedding=RandomWindowShedding(0.6))
        consumer = Consumer(queue)
        for time in range(300):
            feed(queue, "IBM", [time])
            consumer.serve(2)
        queue.advance(400)
        consumer.serve()
        statistics = queue.statistics()
        assert len(consumer.results) == statistics.windows.committed
        assert statistics.windows.committed + statistics.windows.shed == 300
        for result in consumer.results:
            expected = [t for t in range(300) if result.start <= t < result.end]
            assert result.value == expected

    def test_a_tuple_in_no_window_that_is_kept_is_dropped(self) -> None:
        queue = AppendWindowQueue(WindowSpecification(3, 3), shedding=RandomWindowShedding(1.0))
        feed(queue, "IBM", range(9))
        assert queue.dequeue() is None
        assert queue.statistics().tuples.dropped == 9

    def test_the_starter_of_a_window_that_was_shed_must_not_open_it(self) -> None:
        queue = AppendWindowQueue(WindowSpecification(10, 1), shedding=RandomWindowShedding(0.5))
        feed(queue, "IBM", range(30))
        marks = {one.mark for one in queue.dequeue_many(99)}
        assert WindowMark.DISALLOW in marks

    def test_it_is_repeated_by_its_seed(self) -> None:
        seen = set()
        for seed in (1, 1, 2):
            shedding = RandomWindowShedding(0.5, seed)
            seen.add(tuple(shedding.sheds() for _ in range(50)))
        assert len(seen) == 2

    @pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), "half", None])
    def test_the_share_is_one(self, wrong: float) -> None:
        with pytest.raises(ParameterError, match="share must be a share of the windows"):
            RandomWindowShedding(wrong)

    def test_staleness_counts_windows_that_were_shed(self, clock: ManualClock) -> None:
        queue = AppendWindowQueue(
            WindowSpecification(2, 2, tick=1), clock=clock, shedding=RandomWindowShedding(1.0)
        )
        feed(queue, "IBM", range(2), clock=clock)
        clock.set(3)
        assert queue.application_staleness() == pytest.approx(2 * 2 / 2 / 3)
        assert queue.queue_staleness() == 0


def test_shedding_is_a_policy() -> None:
    with pytest.raises(ParameterError, match="shedding must be a RandomWindowShedding"):
        AppendWindowQueue(WindowSpecification(2, 2), shedding=0.5)  # type: ignore[arg-type]


def test_forgetting_a_key_aborts_the_windows_that_the_operator_has_open() -> None:
    queue = AppendWindowQueue(WindowSpecification(3, 1))
    feed(queue, "IBM", range(3))
    consumer = Consumer(queue)
    consumer.serve(2)
    assert consumer.collect.open_windows == 2
    queue.forget("IBM")
    marks = [one.mark for one in consumer.serve()]
    assert marks == [WindowMark.ABORT] * 2
    assert consumer.collect.open_windows == 0
    assert queue.statistics().aborted == 2
