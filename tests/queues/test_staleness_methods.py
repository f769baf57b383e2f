"""What any queue tells of staleness: key by key, in parts, and averaged over keys."""

from __future__ import annotations

import pytest

from upstream import ClosedError, InPlaceScheduler, ManualClock, ParameterError, Stream, UpdateQueue
from upstream.staleness import KeyStaleness


def test_the_table_of_staleness_is_of_the_keys_that_arrived_at_the_queue(stream: Stream) -> None:
    stream.enqueue("before", 0)
    queue = UpdateQueue(InPlaceScheduler())
    stream.attach(queue)
    stream.enqueue("A", 1)
    assert queue.dequeue() is not None
    assert queue.key_staleness() == [KeyStaleness("A", None, 0.0, 0.0, 0.0, 0.0)]


def overloaded_queue() -> UpdateQueue:
    """Return a queue with keys that wait, keys that do not, and one that was forgotten."""
    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    for number in range(25):
        clock.advance(1.0)
        queue.enqueue(number % 10, number)
        if number % 3 == 0:
            update = queue.dequeue()
            assert update is not None
            queue.deliver(update)
    queue.forget(4)
    clock.advance(2.0)
    return queue


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_the_parts_of_the_table_of_staleness_make_the_whole(rows: int) -> None:
    queue = overloaded_queue()
    parts = list(queue.key_staleness_in_parts(rows))
    assert all(len(part) <= rows for part in parts)
    assert [row for part in parts for row in part] == queue.key_staleness()


def test_the_means_of_all_rows_are_those_of_the_queue_with_forgotten_keys() -> None:
    queue = overloaded_queue()
    means = queue.mean_staleness(queue.key_staleness())
    assert means == pytest.approx((queue.queue_staleness(), queue.application_staleness()))
    assert queue.key_count == 9
    empty = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    assert empty.mean_staleness([]) == (0.0, 0.0)


def test_a_queue_that_is_closed_between_two_parts_has_no_further_one() -> None:
    queue = overloaded_queue()
    parts = queue.key_staleness_in_parts(2)
    assert len(next(parts)) == 2
    queue.close()
    with pytest.raises(ClosedError):
        next(parts)


def test_a_part_has_at_least_one_row() -> None:
    with pytest.raises(ParameterError):
        next(overloaded_queue().key_staleness_in_parts(0))
