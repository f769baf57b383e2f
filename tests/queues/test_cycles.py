"""The parts of a queue that refer to one another are released when nothing holds the queue."""

from __future__ import annotations

import weakref

import pytest

from upstream import ClosedError, InPlaceScheduler, UpdateQueue
from upstream.keys import NOBODY, KeyCell, Place
from upstream.queues.cycles import Cycles


class Part:
    def __init__(self) -> None:
        self.released = 0

    def release(self) -> None:
        self.released += 1


def test_the_parts_that_are_there_are_released_when_the_last_holder_goes() -> None:
    first, last = Part(), Part()
    parts: list[Part | None] = []
    cycles = Cycles()
    cycles.add(parts)
    cycles.add((last,))
    holders = [cycles, cycles]
    del cycles
    parts += [first, None]
    holders.pop()
    assert (first.released, last.released) == (0, 0)
    holders.pop()
    assert (first.released, last.released) == (1, 1)


def test_a_place_can_be_released_twice() -> None:
    place = Place(KeyCell("IBM", 0, time=0.0, arrival=0.0), NOBODY)
    place.cell.add_idle(place)
    place.release()
    assert place.cell.idle is None
    place.release()


def test_a_queue_goes_at_once_and_its_own_stream_says_so() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    queue.enqueue("IBM", 24.0)
    stream = queue.stream
    is_there = weakref.ref(queue)
    del queue
    assert is_there() is None
    with pytest.raises(ClosedError, match="no longer exists"):
        stream.enqueue("IBM", 25.0)
    assert stream.statistics().arrived == 1


def test_the_own_stream_may_go_first() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    queue.stream.close()
    assert queue.is_closed
    assert queue.close().arrived == 0
