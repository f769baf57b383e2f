"""A key is forgotten as soon as a queue drops its last update, whenever the queue is used."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream import (
    TOMBSTONE,
    AdaptiveQueue,
    AppendQueue,
    InPlaceScheduler,
    ManualClock,
    OnDemandMemory,
    PagePool,
    RandomShedding,
    Stream,
    StreamQueue,
    UpdateQueue,
)

KINDS: list[Callable[[], StreamQueue]] = [
    lambda: AppendQueue(time_to_live=5.0),
    lambda: AdaptiveQueue(InPlaceScheduler(), time_to_live=5.0),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forget_after", [1.0, 5.0, 6.0])
def test_a_key_is_forgotten_when_its_last_update_has_expired(
    kind: Callable[[], StreamQueue], forget_after: float
) -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=forget_after)
    queue = kind()
    stream.attach(queue)
    stream.enqueue("A", 1, time=10.0)
    clock.advance(20.0)
    lifetime = max(5.0, forget_after)
    assert queue.queue_staleness() == pytest.approx(5.0**2 / 2 / lifetime)
    assert stream.read("A") is None
    assert queue.statistics().forgotten == 1


def test_a_key_that_was_shed_is_forgotten_at_once_if_its_time_is_over() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=3.0)
    queue = AppendQueue(capacity=1, shedding=RandomShedding(0))
    stream.attach(queue)
    for number in range(40):
        stream.enqueue(number, number)
        clock.advance(4.0)
        assert queue.statistics().keys == len(queue) == 1
    assert queue.statistics().forgotten == 39


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_key_is_forgotten_when_the_last_queue_no_longer_holds_it(
    kind: Callable[[], StreamQueue], is_first: bool
) -> None:
    """The late update leaves its queue at 6, when nothing else falls due; the other at 9."""
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=3.0)
    other = UpdateQueue(InPlaceScheduler(), time_to_live=9.0)
    for queue in (kind(), other) if is_first else (other, kind()):
        stream.attach(queue)
    stream.enqueue("A", 1, time=10.0)
    clock.advance(1.0)
    stream.enqueue("A", 0, time=9.0)
    clock.advance(19.0)
    assert len(stream) == 0
    assert other.queue_staleness() == pytest.approx(9.0 / 2)
    assert other.application_staleness() == pytest.approx(9.0 / 2)


def test_an_unread_update_that_expires_releases_its_location_in_time() -> None:
    clock = ManualClock()
    memory = OnDemandMemory(PagePool(64, page_bytes=64, location_bytes=64))
    stream = Stream(clock=clock, memory=memory, forget_after=3.0)
    stream.attach(AppendQueue(time_to_live=5.0))
    stream.enqueue("A", b"1", time=10.0)
    clock.advance(1.0)
    stream.enqueue("A", b"0", time=9.0)  # late, and the last of its key to expire, at 6
    clock.advance(7.0)
    stream.enqueue("B", b"2")
    clock.advance(2.0)
    usage = stream.memory_usage()
    assert usage is not None
    assert usage.average_usage_locations == pytest.approx((6.0 + 2.0) / 10.0)
    assert [update.key for update in stream.snapshot()] == ["B"]


def test_shedding_makes_room_for_the_next_update() -> None:
    clock = ManualClock()
    memory = OnDemandMemory(PagePool(128, page_bytes=64, location_bytes=64))
    stream = Stream(clock=clock, memory=memory, forget_after=3.0)
    stream.attach(AppendQueue(capacity=1, shedding=RandomShedding(0)))
    for number in range(40):
        stream.enqueue(number, b"%d" % number)
        clock.advance(4.0)
    assert stream.statistics().rejected == 0
    assert len(stream) == 1


def test_two_queues_may_drop_a_key_at_one_moment() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=1.0)
    queues = [AppendQueue(capacity=1, shedding=RandomShedding(1)) for _ in range(2)]
    for queue in queues:
        stream.attach(queue)
    for key in "abcdef":
        stream.enqueue(key, key)
        clock.advance(1.0)
    for queue in queues:
        queue._check()
        assert queue.statistics().arrived == 6
    assert len(stream) == 1


def test_a_queue_that_only_lets_updates_expire_still_reads_late() -> None:
    stream = Stream(clock=ManualClock(), forget_after=3.0)
    late, at_once = (
        AppendQueue(time_to_live=5.0),
        AppendQueue(capacity=9, shedding=RandomShedding()),
    )
    for queue in (late, at_once):
        stream.attach(queue)
    for number in range(5):
        stream.enqueue(number, number)
    assert (len(late._waiting), len(at_once._waiting)) == (0, 5)
    assert (len(late), len(at_once)) == (5, 5)


def test_an_update_that_is_given_back_expires_in_time_again() -> None:
    clock = ManualClock()
    stream = Stream(clock=clock, forget_after=3.0)
    queue = AppendQueue(time_to_live=5.0)
    stream.attach(queue)
    stream.enqueue("A", 1)
    update = queue.dequeue()
    assert update is not None
    clock.advance(4.0)
    queue.give_back(update)
    clock.advance(4.0)
    assert len(stream) == 0
    assert queue.statistics().expired == 1
    # It waited from its arrival on, for 5 seconds; the key was forgotten then.
    assert queue.application_staleness() == pytest.approx(5.0 / 2)


class ShedsWhatComes(RandomShedding):
    def victim(self, waiting: int) -> int:
        return waiting


def test_a_deletion_that_was_shed_unseen_deletes_nothing_where_that_happened() -> None:
    stream = Stream(clock=ManualClock())
    other, full = AppendQueue(), AppendQueue(capacity=1, shedding=ShedsWhatComes())
    stream.attach(other)
    stream.attach(full)
    stream.enqueue("A", 1)
    stream.enqueue("B", TOMBSTONE)
    stream.detach(other)
    assert len(stream) == 2
    assert (full.statistics().keys, full.statistics().forgotten) == (2, 0)
