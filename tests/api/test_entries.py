"""Streams and queues as the service holds them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from api.definitions import QueueDefinition, StreamDefinition
from api.entries import QueueEntry, StreamEntry, attach
from upstream import (
    TOMBSTONE,
    ManualClock,
    Outcome,
    QueueStatistics,
    Stream,
    UnknownKeyError,
    Update,
)

MANY_BYTES = 1 << 20


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def stream(clock: ManualClock) -> StreamEntry:
    return StreamEntry("trades", Stream(clock=clock), StreamDefinition(), run="r")


@pytest.fixture
def woken() -> list[str]:
    return []


def entry_of(stream: StreamEntry, **definition: object) -> QueueEntry:
    entry = QueueEntry("q", stream, QueueDefinition.model_validate(definition))
    attach(stream.stream, entry.queue)
    return entry


def counters(entry: QueueEntry) -> QueueStatistics:
    found = entry.source.statistics()
    assert isinstance(found, QueueStatistics)
    assert found.is_balanced
    return found


def test_an_update_a_batch_and_a_deletion_wake_waiting_requests(
    stream: StreamEntry, woken: list[str]
) -> None:
    def wait() -> None:
        stream.idle.add(lambda: woken.append("up"))

    wait()
    stream.take_in_one("IBM", b"1")
    wait()
    stream.take_in(["GM"], [b"1"])
    wait()
    stream.delete("GM")
    assert woken == ["up"] * 3


def test_a_deletion_has_the_time_of_the_value_that_it_deletes(stream: StreamEntry) -> None:
    entry = entry_of(stream)
    stream.take_in_one("IBM", b"1", 100.0)
    assert stream.delete("IBM") is Outcome.SUPERSEDED
    (update,) = entry.take(10, MANY_BYTES)
    assert (update.value, update.time) == (TOMBSTONE, 100.0)
    assert stream.deletions.since(0.0) == [update]
    with pytest.raises(UnknownKeyError):
        stream.delete("IBM")


def test_an_update_newer_than_a_deleted_value_is_newer_than_its_deletion(
    stream: StreamEntry,
) -> None:
    entry = entry_of(stream)
    stream.take_in_one("IBM", b"1", 1.0)  # of a source whose times are not those of the service
    stream.delete("IBM")
    assert stream.take_in_one("IBM", b"2", 2.0) is Outcome.SUPERSEDED
    assert [update.value for update in entry.take(10, MANY_BYTES)] == [b"2"]


def test_large_keys_make_short_answers(stream: StreamEntry) -> None:
    entry = entry_of(stream)
    stream.take_in([("x" * 50, number) for number in range(5)], [b"1"] * 5)
    assert len(entry.take(10, 100)) == 2


def test_large_values_make_short_answers(stream: StreamEntry) -> None:
    entry = entry_of(stream)
    stream.take_in(list("abc"), [b"x" * 100] * 3)
    assert len(entry.take(10, 150)) == 2
    assert len(entry.take(10, 150)) == 1


def test_updates_that_are_given_back_wait_again_and_wake_consumers(
    stream: StreamEntry, woken: list[str]
) -> None:
    entry = entry_of(stream)
    stream.take_in(list("ab"), [b"1", b"2"])
    updates = entry.take(10, MANY_BYTES)
    entry.idle.add(lambda: woken.append("up"))
    entry.give_back(updates)
    assert woken == ["up"]
    assert [update.key for update in entry.take(10, MANY_BYTES)] == ["a", "b"]
    assert counters(entry).returned == 2


def test_without_leases_the_cost_is_how_soon_consumers_come_again(
    stream: StreamEntry, clock: ManualClock
) -> None:
    entry = entry_of(stream)
    stream.take_in(list("abcd"), [b"1"] * 4)
    entry.deliver(entry.take(2, MANY_BYTES))
    assert entry.source.processing_cost is None
    clock.advance(3.0)
    entry.pace.asked(stream.stream.now())
    assert entry.source.processing_cost == 1.5


@pytest.fixture
def leased(stream: StreamEntry) -> Iterator[QueueEntry]:
    entry = entry_of(stream, lease_seconds=10.0)
    yield entry
    entry.drop()


async def test_a_lease_that_ran_out_makes_its_update_wait_again(
    stream: StreamEntry, leased: QueueEntry, clock: ManualClock, woken: list[str]
) -> None:
    stream.take_in(list("ab"), [b"1", b"2"])
    updates = leased.take(10, MANY_BYTES)
    names = leased.lease(updates, expires=True)
    assert names is not None
    assert leased.leases is not None
    assert leased.leases.end(names[0]) is updates[0]
    assert leased.deliver(updates[:1]) == 1
    leased.idle.add(lambda: woken.append("up"))
    clock.advance(10.0)
    assert [update.key for update in leased.take(10, MANY_BYTES)] == ["b"]
    assert woken == ["up"]
    assert leased.deliver(updates[:1]) == 0
    assert counters(leased).delivered == 1


async def test_the_timer_of_a_lease_wakes_waiting_requests() -> None:
    stream = StreamEntry("trades", Stream(), StreamDefinition(), run="r")
    entry = entry_of(stream, lease_seconds=0.01)
    stream.take_in_one("a", b"1")
    up = asyncio.Event()
    entry.idle.add(up.set)
    entry.lease(entry.take(1, MANY_BYTES), expires=True)
    await asyncio.wait_for(up.wait(), 20)
    assert len(entry.queue) == 1
    entry.lease(entry.take(1, MANY_BYTES), expires=True)
    timer = entry._timer
    entry.drop()
    assert timer is not None
    assert timer.cancelled()


def test_a_private_queue_is_like_the_named_one_and_takes_nothing_from_it(
    stream: StreamEntry,
) -> None:
    entry = entry_of(stream)
    stream.take_in_one("a", b"1")
    private = entry.attach_private(snapshot=True)
    assert len(private) == len(entry.queue) == 1
    private.dequeue()
    assert len(entry.queue) == 1
    now = stream.stream.now()
    assert len(entry.attach_private(since=now)) == 1
    assert len(entry.attach_private(since=now + 1)) == 0
    assert len(entry.attach_private()) == 0


@pytest.mark.parametrize(
    "definition", [{"capacity": 3}, {"kind": "append"}, {"kind": "append", "capacity": 3}]
)
def test_a_private_queue_refuses_nothing(
    stream: StreamEntry, definition: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.entries.MOST_APPENDED", 10)
    private = entry_of(stream, **definition).attach_private()
    for number in range(100):
        stream.take_in_one(number % 30, b"%d" % number, float(number))
    newest: dict[object, object] = {}
    while (update := private.dequeue()) is not None:
        newest[update.key] = update.value
    expected = {number % 30: b"%d" % number for number in range(100)}
    assert newest == expected


def test_nothing_expires_in_a_private_queue(clock: ManualClock, stream: StreamEntry) -> None:
    entry = entry_of(stream, time_to_live=1.0)
    private = entry.attach_private()
    stream.take_in_one("IBM", b"1")
    clock.advance(5)
    assert len(entry.queue) == 0
    assert private.dequeue() is not None


def test_a_private_append_queue_keeps_every_update_while_its_reader_keeps_up(
    stream: StreamEntry,
) -> None:
    private = entry_of(stream, kind="append").attach_private()
    for number in range(50):
        stream.take_in_one("IBM", b"%d" % number)
    assert len(private) == 50


async def test_a_deleted_queue_takes_nothing_back(stream: StreamEntry) -> None:
    entry = entry_of(stream, lease_seconds=1.0)
    stream.take_in(list("ab"), [b"1", b"2"])
    updates = entry.take(10, MANY_BYTES)
    names = entry.lease(updates, expires=False)
    assert names is not None
    entry.source.close()
    entry.drop()
    entry.let_expire(names)
    entry.give_back(updates)
    assert entry.deliver(updates) == 0


async def test_an_answer_that_was_not_sent_is_taken_back_with_its_leases(
    stream: StreamEntry, leased: QueueEntry, woken: list[str]
) -> None:
    stream.take_in(list("ab"), [b"1", b"2"])
    updates = leased.take(10, MANY_BYTES)
    names = leased.lease(updates, expires=True)
    leased.idle.add(lambda: woken.append("up"))
    leased.take_back(updates, names)
    assert leased.leases is not None
    assert len(leased.leases) == 0
    assert woken == ["up"]
    assert len(leased.take(10, MANY_BYTES)) == 2


async def test_a_lease_that_runs_out_late_wakes_waiting_requests(
    stream: StreamEntry, leased: QueueEntry, clock: ManualClock, woken: list[str]
) -> None:
    stream.take_in_one("a", b"1")
    names = leased.lease(leased.take(1, MANY_BYTES), expires=False)
    assert names is not None
    clock.advance(100.0)
    leased.catch_up()
    assert len(leased.queue) == 0
    leased.idle.add(lambda: woken.append("up"))
    leased.let_expire(names)
    assert woken == ["up"]
    assert len(leased.queue) == 1


# What only connections are served from


def served_only_to_connections(stream: StreamEntry, **definition: object) -> QueueEntry:
    entry = QueueEntry("q", stream, QueueDefinition.model_validate(definition))
    entry.begin()
    entry.serve_push()
    return entry


@pytest.mark.parametrize(
    "definition",
    [
        {},
        {"scheduler": "fifo"},
        {"kind": "append", "keep_for_dequeue": False},
        {"kind": "window", "window": {"size": 1}, "keep_for_dequeue": False},
    ],
    ids=["index", "fifo", "append", "window"],
)
def test_a_queue_that_only_connections_are_served_from_holds_nothing(
    stream: StreamEntry, definition: dict[str, object]
) -> None:
    entry = entry_of(stream, **definition)
    stream.take_in(list("aab"), [b"1"] * 3, [1.0, 2.5, 1.0])
    stream.delete("b")
    before = entry.statistics()
    entry.serve_push()
    assert entry.serves == "push"
    assert len(entry.queue) == 0
    assert "b" not in stream.stream
    after = entry.statistics()
    assert after.is_balanced
    assert after.waiting == 0
    if isinstance(before, QueueStatistics):
        assert isinstance(after, QueueStatistics)
        assert (after.arrived, after.expired) == (before.arrived, before.waiting)
    stream.take_in_one("c", b"1")
    assert entry.statistics() == after


def test_the_first_dequeue_begins_with_the_keys_that_changed_since_the_definition(
    stream: StreamEntry, clock: ManualClock
) -> None:
    stream.take_in(["old", "gone before"], [b"0", b"0"])
    stream.delete("gone before")
    clock.advance(1.0)
    entry = served_only_to_connections(stream)
    private = entry.attach_private()
    stream.take_in(["new", "gone", "back"], [b"1"] * 3)
    while (update := private.dequeue()) is not None:
        private.deliver(update)
    for key in ("gone", "back"):
        stream.delete(key)
    stream.take_in_one("back", b"2")
    clock.advance(1.0)
    taken = {update.key: update.value for update in entry.take(10, MANY_BYTES)}
    assert taken == {"new": b"1", "back": b"2", "gone": TOMBSTONE}
    assert entry.serves == "dequeue"
    assert counters(entry).dequeued == 3
    stream.take_in_one("new", b"3")
    assert [update.value for update in entry.take(10, MANY_BYTES)] == [b"3"]


def test_a_remembered_deletion_is_forgotten_once_it_is_delivered(stream: StreamEntry) -> None:
    entry = served_only_to_connections(stream)
    others = [entry_of(stream), entry_of(stream, kind="append")]
    stream.take_in_one("IBM", b"1", 7.0)
    stream.delete("IBM")
    for other in others:
        other.deliver(other.take(10, MANY_BYTES))
    assert "IBM" not in stream.stream
    updates = entry.take(10, MANY_BYTES)
    assert updates == [Update("IBM", TOMBSTONE, 7.0)]
    for other in others:
        assert other.take(10, MANY_BYTES) == []
    entry.deliver(updates)
    assert "IBM" not in stream.stream


def test_a_deletion_that_finds_the_queue_full_leaves_no_key_behind(stream: StreamEntry) -> None:
    entry = served_only_to_connections(stream, capacity=1)
    for key in "ab":
        stream.take_in_one(key, b"1")
        stream.delete(key)
    assert len(entry.take(10, MANY_BYTES)) == 1
    assert len(stream.stream) == 1


def test_with_a_snapshot_the_first_dequeue_begins_with_all_values(stream: StreamEntry) -> None:
    stream.take_in_one("old", b"0")
    entry = served_only_to_connections(stream, snapshot=True)
    assert [update.key for update in entry.take(10, MANY_BYTES)] == ["old"]


def test_without_retained_values_the_first_dequeue_begins_with_the_next_update(
    clock: ManualClock,
) -> None:
    stream = StreamEntry("s", Stream(clock=clock, retain=False), StreamDefinition(), run="r")
    entry = served_only_to_connections(stream)
    stream.take_in_one("IBM", b"1")
    assert entry.take(10, MANY_BYTES) == []
    stream.take_in_one("IBM", b"2")
    assert len(entry.take(10, MANY_BYTES)) == 1


def test_a_queue_may_keep_everything_for_its_first_dequeue(stream: StreamEntry) -> None:
    entry = served_only_to_connections(stream, kind="append", keep_for_dequeue=True)
    assert entry.serves == "dequeue"
    stream.take_in(list("aa"), [b"1", b"2"])
    assert [update.value for update in entry.take(10, MANY_BYTES)] == [b"1", b"2"]


@pytest.mark.parametrize("kind", ["append", "adaptive"])
def test_a_connection_does_not_empty_a_queue_that_cannot_restore_its_updates(
    stream: StreamEntry, kind: str
) -> None:
    entry = entry_of(stream, kind=kind)
    stream.take_in(list("aa"), [b"1", b"2"])
    entry.serve_push()
    assert entry.serves == "dequeue"
    assert [update.value for update in entry.take(10, MANY_BYTES)] == [b"1", b"2"]


def test_a_connection_does_not_empty_a_queue_of_a_stream_without_retained_values(
    clock: ManualClock,
) -> None:
    stream = StreamEntry("s", Stream(clock=clock, retain=False), StreamDefinition(), run="r")
    entry = entry_of(stream)
    stream.take_in_one("IBM", b"1")
    entry.serve_push()
    assert [update.value for update in entry.take(10, MANY_BYTES)] == [b"1"]


def test_a_definition_may_let_connections_drop_the_waiting_updates(stream: StreamEntry) -> None:
    entry = entry_of(stream, kind="append", keep_for_dequeue=False)
    stream.take_in(list("aa"), [b"1", b"2"])
    entry.serve_push()
    assert entry.serves == "push"
    statistics = entry.statistics()
    assert isinstance(statistics, QueueStatistics)
    assert statistics.expired == 2


def test_a_queue_that_was_dequeued_from_keeps_updates_for_its_consumer(stream: StreamEntry) -> None:
    entry = entry_of(stream)
    assert entry.take(10, MANY_BYTES) == []
    stream.take_in_one("IBM", b"1")
    entry.serve_push()
    assert entry.serves == "dequeue"
    assert len(entry.take(10, MANY_BYTES)) == 1


def test_its_counters_never_fall_as_it_rests_and_is_dequeued_from(stream: StreamEntry) -> None:
    entry = entry_of(stream)
    stream.take_in(list("aab"), [b"1"] * 3)
    first = counters(entry)
    entry.serve_push()
    entry.take(10, MANY_BYTES)
    last = entry.statistics()
    assert isinstance(last, QueueStatistics)
    assert last.is_balanced
    for name in ("arrived", "dequeued", "superseded", "expired", "forgotten"):
        assert getattr(last, name) >= getattr(first, name)
    assert last.arrived == 5
    assert entry.close() == entry.statistics()
