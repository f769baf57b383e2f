"""A tap runs something for every arrival at a stream."""

from __future__ import annotations

import pytest

from upstream import AppendQueue, InPlaceScheduler, UpdateQueue
from upstream.plans.arrival_tap import ArrivalTap

from .setting import Streams, values_of


def test_every_arrival_runs_once_also_of_a_batch_and_late_ones() -> None:
    streams = Streams()
    runs: list[int] = []
    tap = ArrivalTap(streams.left, lambda: runs.append(streams.left.statistics().arrived))
    streams.left.enqueue("IBM", 1, 5)
    streams.left.enqueue("IBM", 2, 4)
    streams.left.enqueue_many(["IBM", "GM", "IBM"], [1, 2, 3])
    assert runs == [1, 2, 3, 4, 5]
    assert streams.left._log is not None
    assert len(streams.left._log) == 0  # nothing is kept for a tap
    tap.close()
    streams.left.enqueue("IBM", 3)
    assert len(runs) == 5


@pytest.mark.parametrize("taps_first", [True, False])
def test_queues_have_what_arrived_when_a_tap_runs(*, taps_first: bool) -> None:
    streams = Streams()
    update_queue = UpdateQueue(InPlaceScheduler())
    append_queue = AppendQueue()
    seen: list[object] = []

    def look() -> None:
        seen.extend(values_of(update_queue.dequeue_many(9)))
        seen.extend(values_of(append_queue.dequeue_many(9)))

    if taps_first:
        ArrivalTap(streams.left, look)
    streams.left.attach(update_queue)
    streams.left.attach(append_queue)
    if not taps_first:
        ArrivalTap(streams.left, look)
    streams.left.enqueue_many(["a", "a", "b"], [1, 2, 3])
    assert seen == [1, 1, 2, 2, 3, 3]
    assert update_queue.statistics().is_balanced


def test_an_arrival_that_a_tap_causes_runs_as_well() -> None:
    streams = Streams()
    runs: list[int] = []

    def enqueue_more() -> None:
        runs.append(streams.left.statistics().arrived)
        if len(runs) < 3:
            streams.left.enqueue("GM", len(runs))

    ArrivalTap(streams.left, enqueue_more)
    streams.left.enqueue("IBM", 0)
    assert len(runs) == 3
    streams.left._check()


def test_a_stream_without_a_tap_is_as_fast_as_before() -> None:
    streams = Streams()
    streams.left.attach(UpdateQueue(InPlaceScheduler()))
    was_bare = streams.left._is_bare
    tap = ArrivalTap(streams.left, lambda: None)
    assert (was_bare, streams.left._is_bare) == (True, False)
    tap.close()
    assert streams.left._is_bare
