"""A stream that is a queue's own knows the queue for as long as that lives."""

from __future__ import annotations

import pytest
from upstream.queues.own_queue import OwnQueue
from upstream.queues.place_column import Rings

from upstream import ClosedError, InPlaceScheduler, Stream, UpdateQueue
from upstream.keys import KeyCell
from upstream.queues.stream.beginning import Beginning


def stand_in_for(queue: UpdateQueue, stream: Stream) -> OwnQueue[object]:
    return OwnQueue(
        queue,
        stream,
        admit=queue.scheduler.admit,
        welcome=queue.scheduler.welcome,
        rings=Rings(),
    )


def test_it_passes_on_what_the_stream_asks_while_the_queue_lives() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    queue.enqueue("IBM", 24.0)
    own = stand_in_for(queue, Stream())
    [cell] = queue.stream.cells()
    assert own == queue
    assert not own.is_gone
    assert own.holds(cell)
    assert own.counts(cell)
    assert not own.copies_values
    own.settle()
    own.forget_cell(cell, 0.0)
    assert queue.statistics().expired == 1


def test_its_stream_is_closed_and_nothing_waits_when_the_queue_is_gone() -> None:
    stream = Stream()
    own = stand_in_for(UpdateQueue(InPlaceScheduler()), stream)
    cell = KeyCell("IBM", 0, time=0.0, arrival=0.0)
    assert own.is_gone
    assert own != UpdateQueue(InPlaceScheduler())
    nothing: object = None
    assert own != nothing
    assert not own.holds(cell)
    assert not own.counts(cell)
    own.settle()
    own.take_over(cell, 0.0)
    own.forget_cell(cell, 0.0)
    with pytest.raises(ClosedError):
        own.leave()
    with pytest.raises(ClosedError, match="dropped"):
        stream.enqueue("IBM", 24.0)


def test_the_stream_may_go_first() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    own = stand_in_for(queue, Stream())
    del queue
    assert own.is_gone


def test_it_joins_no_other_stream() -> None:
    queue = UpdateQueue(InPlaceScheduler())
    with pytest.raises(AssertionError, match="its own stream"):
        stand_in_for(queue, Stream()).join(Stream(), Beginning())
