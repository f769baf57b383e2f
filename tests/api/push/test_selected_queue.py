"""The queue of one connection, without the connection."""

from __future__ import annotations

import math
from typing import Any

import pytest

from api.entries import QueueEntry
from api.push.resume import Beginning, sequence_before
from api.push.selected_queue import FEW_KEYS, MOST_PASSED_OVER, SelectedQueue
from api.push.selection import Selection, SelectionError
from tests.api.push.setting import define, make_service, put
from upstream import Key, ManualClock

KINDS: list[dict[str, Any]] = [
    *({"scheduler": name} for name in ("index", "in-place", "fifo", "linecutting")),
    {"kind": "append"},
    {"kind": "adaptive"},
]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_000.0)


def define_here(clock: ManualClock, **definition: Any) -> QueueEntry:
    return define(make_service(clock), **definition)


def make_queue(feed: QueueEntry, snapshot: bool = False, **selection: Any) -> SelectedQueue:
    return SelectedQueue(feed, Selection(**selection), Beginning(snapshot=snapshot))


def take_all(queue: SelectedQueue) -> list[Key]:
    """Take, and deliver at once, what there is now."""
    keys = []
    while True:
        update = queue.take()
        if update is not None:
            keys.append(update.key)
            queue.deliver(update)
        elif not queue.has_more:
            return keys


@pytest.mark.parametrize("definition", KINDS)
def test_only_wanted_keys_are_taken(clock: ManualClock, definition: dict[str, Any]) -> None:
    feed = define_here(clock, **definition)
    queue = make_queue(feed, key_patterns=("G*",))
    put(feed, GOOG=1, IBM=2, GM=3)
    assert sorted(map(str, take_all(queue))) == ["GM", "GOOG"]
    put(feed, IBM=4)
    assert take_all(queue) == []
    assert queue.next_due() == math.inf


@pytest.mark.parametrize("definition", KINDS)
def test_the_named_queue_is_not_consumed(clock: ManualClock, definition: dict[str, Any]) -> None:
    feed = define_here(clock, **definition)
    queue = make_queue(feed)
    put(feed, GOOG=1, IBM=2)
    assert len(take_all(queue)) == 2
    assert len(feed.queue) == 2


@pytest.mark.parametrize("definition", KINDS)
def test_keys_that_are_not_wanted_keep_no_deleted_key_alive(
    clock: ManualClock, definition: dict[str, Any]
) -> None:
    feed = define_here(clock, **definition)
    queue = make_queue(feed, key_patterns=("G*",))
    put(feed, IBM=1)
    feed.queue.deliver(feed.queue.dequeue())  # type: ignore[arg-type]
    feed.stream.delete("IBM")
    feed.queue.deliver(feed.queue.dequeue())  # type: ignore[arg-type]
    assert take_all(queue) == []
    assert len(feed.stream.stream) == 0


def test_a_key_is_not_taken_again_before_its_interval_is_over(clock: ManualClock) -> None:
    feed = define_here(clock)
    queue = make_queue(feed, key_rates=(("GOOG", 1.0), ("GM", 1 / 3600)))
    put(feed, GOOG=1, GM=1, IBM=1)
    assert len(take_all(queue)) == 3
    clock.advance(0.5)
    put(feed, GOOG=2, GM=2, IBM=2)
    assert take_all(queue) == ["IBM"]
    assert queue.next_due() == 1_001.0
    assert len(queue) == 2
    clock.advance(0.5)
    assert take_all(queue) == ["GOOG"]
    assert queue.next_due() == 4_600.0
    clock.advance(3_599)
    assert take_all(queue) == ["GM"]
    assert queue.next_due() == math.inf


@pytest.mark.parametrize(
    "definition", [{"kind": "append"}, {"kind": "adaptive"}, {"scheduler": "fifo"}]
)
def test_rates_of_keys_are_refused_for_queues_that_cannot_hold_back_keys(
    clock: ManualClock, definition: dict[str, Any]
) -> None:
    feed = define_here(clock, **definition)
    with pytest.raises(SelectionError) as error:
        make_queue(feed, rate_of_others=1.0)
    assert error.value.parameter == "max_rate_per_key"
    assert feed.stream.stream.statistics().queues == 1  # the refused one is gone


@pytest.mark.parametrize("kind", ["append", "adaptive"])
def test_other_tasks_run_while_many_updates_are_passed_over(clock: ManualClock, kind: str) -> None:
    feed = define_here(clock, kind=kind, capacity=10 * MOST_PASSED_OVER)
    queue = make_queue(feed, key_patterns=("GM",))
    for _ in range(MOST_PASSED_OVER + 1):
        put(feed, IBM=1)
    put(feed, GM=1)
    assert queue.take() is None
    assert queue.has_more
    update = queue.take()
    assert update is not None
    assert update.key == "GM"
    assert queue.take() is None
    assert not queue.has_more


@pytest.mark.parametrize("definition", KINDS)
def test_the_sequence_is_before_the_earliest_that_waits(
    clock: ManualClock, definition: dict[str, Any]
) -> None:
    feed = define_here(clock, **definition)
    queue = make_queue(feed)
    put(feed, A=1)
    clock.advance(1)
    put(feed, B=1)
    clock.advance(1)
    first = queue.take()
    assert first is not None
    assert first.key == "A"
    assert queue.sequence() <= sequence_before(1_001.0)
    assert queue.take() is not None
    clock.advance(1)
    assert queue.sequence() <= sequence_before(1_003.0)
    put(feed, C=1)
    clock.advance(1)
    assert queue.take() is not None
    clock.advance(1)
    assert queue.sequence() == sequence_before(1_005.0)


@pytest.mark.parametrize("definition", KINDS)
def test_a_key_of_a_snapshot_waits_since_its_own_arrival(
    clock: ManualClock, definition: dict[str, Any]
) -> None:
    feed = define_here(clock, **definition)
    put(feed, A=1)
    clock.advance(1)
    put(feed, B=1)
    clock.advance(1)
    queue = make_queue(feed, snapshot=True)
    assert queue.sequence() == sequence_before(1_000.0)
    assert queue.take() is not None
    assert queue.sequence() <= sequence_before(1_001.0)


def test_the_sequence_is_computed_again_only_after_as_many_updates_as_waited(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = define_here(clock)
    queue = make_queue(feed)
    looks = 0
    look = SelectedQueue._look

    def counted(queue: SelectedQueue) -> None:
        nonlocal looks
        looks += 1
        look(queue)

    monkeypatch.setattr(SelectedQueue, "_look", counted)
    put(feed, **{f"K{number}": 1 for number in range(1_000)})
    for _ in range(900):
        assert queue.take() is not None
        queue.sequence()
    assert looks < 20


def test_a_window_is_taken_as_one_update() -> None:
    feed = define(make_service(), kind="window", window={"size": 2, "aggregate": "sum"})
    queue = make_queue(feed)
    for time in range(5):
        feed.stream.take_in_one("IBM", b"1.5", float(time))
    update = queue.take()
    assert update is not None
    assert update.value == b'{"start":2.0,"end":4.0,"result":3.0}'
    queue.deliver(update)
    assert queue.sequence() > 0
    queue.close()


def test_connections_that_begin_together_begin_with_other_keys_each(clock: ManualClock) -> None:
    feed = define_here(clock)
    keys = [f"K{number}" for number in range(FEW_KEYS + 1)]
    feed.stream.take_in(keys, [b"1"] * len(keys))
    orders = [take_all(make_queue(feed, snapshot=True)) for _ in range(20)]
    assert all(sorted(map(str, order)) == sorted(keys) for order in orders)
    assert len({order[0] for order in orders}) > 1


def test_a_connection_that_begins_with_few_keys_gets_them_in_their_order(
    clock: ManualClock,
) -> None:
    feed = define_here(clock)
    put(feed, A=1, B=1, C=1)
    assert all(take_all(make_queue(feed, snapshot=True)) == ["A", "B", "C"] for _ in range(20))
