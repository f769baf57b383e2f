"""A cursor finds the keys that reach an age, each once, and again after they arrive again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.keys import ArrivalOrder, KeyCell, KeyTable
from upstream.queues.stream.age_cursors import AgeCursor, AgeCursors
from upstream.queues.stream.kept_order import KeptOrder


def cells_at(order: ArrivalOrder, *arrivals: float) -> list[KeyCell]:
    cells = [KeyCell(at, at, time=0.0, arrival=arrival) for at, arrival in enumerate(arrivals)]
    for cell in cells:
        order.append(cell)
    return cells


class Watch:
    """A cursor, with what reached its age."""

    def __init__(self, order: ArrivalOrder, age: float) -> None:
        self.taken: list[tuple[object, float]] = []
        self.cursor = AgeCursor(age, order)
        self.cursor.actions.append(self.take)

    def take(self, cell: KeyCell, due: float) -> None:
        self.taken.append((cell.key, due))

    def keys_due(self, now: float) -> list[object]:
        self.taken.clear()
        while (due := self.cursor.next_due()) <= now:
            self.cursor.fall_due(due)
        return [key for key, _ in self.taken]


def test_keys_fall_due_in_the_order_of_arrival_and_exactly_at_their_age() -> None:
    order = ArrivalOrder()
    watch = Watch(order, age=5.0)
    cursor = watch.cursor
    assert cursor.next_due() == math.inf
    cells_at(order, 0.0, 1.0, 1.0)
    assert cursor.next_due() == 5.0
    assert watch.keys_due(4.9) == []
    assert watch.keys_due(5.0) == [0]
    assert cursor.next_due() == 6.0
    assert watch.keys_due(9.0) == [1, 2]
    assert watch.keys_due(99.0) == []
    assert cursor.next_due() == math.inf


def test_a_key_is_passed_as_of_when_it_is_due_and_once() -> None:
    order = ArrivalOrder()
    watch = Watch(order, age=5.0)
    cells_at(order, 0.0, 1.0, 9.0)
    assert watch.keys_due(8.0) == [0, 1]
    assert watch.taken == [(0, 5.0), (1, 6.0)]
    assert watch.keys_due(99.0) == [2]
    with pytest.raises(AssertionError, match="no key is due"):
        watch.cursor.fall_due(99.0)


def test_a_key_that_arrives_again_falls_due_again() -> None:
    order = ArrivalOrder()
    watch = Watch(order, age=5.0)
    first, _ = cells_at(order, 0.0, 1.0)
    assert watch.keys_due(6.0) == [0, 1]
    first.arrival = 7.0
    order.move_to_newest(first)
    assert watch.cursor.next_due() == 12.0
    assert watch.keys_due(12.0) == [0]


def test_a_key_may_leave_as_it_falls_due_and_take_the_next_with_it() -> None:
    order = ArrivalOrder()
    first, second, third = cells_at(order, 0.0, 0.0, 0.0)
    left: list[KeyCell] = []

    def leave(cell: KeyCell, _: float) -> None:
        left.append(cell)
        for gone in (cell, second) if cell is first else (cell,):
            order.remove(gone)
        order._check()

    cursor = AgeCursor(1.0, order)
    cursor.actions.append(leave)
    while (due := cursor.next_due()) <= 2.0:
        cursor.fall_due(due)
    assert left == [first, third]


def test_a_new_cursor_sees_the_keys_that_are_there_already() -> None:
    order = ArrivalOrder()
    cells_at(order, 0.0, 8.0)
    assert Watch(order, age=2.0).keys_due(9.0) == [0]


def test_a_closed_cursor_leaves_the_order_as_it_was() -> None:
    order = ArrivalOrder()
    cells = cells_at(order, 0.0, 1.0)
    watches = [Watch(order, age=1.0), Watch(order, age=2.0)]
    assert watches[0].keys_due(1.0) == [0]
    for watch in watches:
        watch.cursor.close()
    assert list(order) == cells
    assert cells[0].older is order.end
    assert cells[1].newer is order.end
    order._check()


def test_cursors_between_the_same_keys_share_one_marker() -> None:
    order = ArrivalOrder()
    watches = [Watch(order, age=float(age)) for age in range(1, 100)]
    (cell,) = cells_at(order, 0.0)
    for watch in watches:
        assert watch.cursor.next_due() == watch.cursor.age
    assert cell.older.older is order.end
    for watch in watches:
        assert watch.keys_due(100.0) == [0]
    assert cell.older is order.end
    assert cell.newer.newer is order.end


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40),
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
)
def test_several_cursors_find_what_a_look_at_all_keys_finds(
    arrivals: list[tuple[int, int]], ages: list[int]
) -> None:
    order = ArrivalOrder()
    watches = [Watch(order, age) for age in ages]
    cells = cells_at(order, *[0.0] * 5)
    alive = [set(range(5)) for _ in ages]
    now = 0.0
    for key, passed in arrivals:
        now += passed
        for watch, waiting in zip(watches, alive, strict=True):
            due = {at for at in waiting if cells[at].arrival + watch.cursor.age <= now}
            assert set(watch.keys_due(now)) == due
            waiting -= due
            waiting.add(key)
        cells[key].arrival = now
        order.move_to_newest(cells[key])
        order._check()
        for watch, waiting in zip(watches, alive, strict=True):
            first = min(cells[at].arrival for at in waiting)
            assert watch.cursor.next_due() == first + watch.cursor.age


def test_actions_at_one_age_share_a_cursor_and_the_order_ends_with_the_last_cursor() -> None:
    kept = KeptOrder(KeyTable())
    ages = AgeCursors(kept)
    calls: list[str] = []

    def first(_cell: KeyCell, _due: float) -> None:
        calls.append("first")

    def second(_cell: KeyCell, _due: float) -> None:
        calls.append("second")

    cursor = ages.add(2.0, first)
    assert isinstance(cursor, AgeCursor)
    assert ages.add(2.0, second) is None
    other = ages.add(3.0, first)
    assert other is not cursor
    assert kept.order is not None
    cells_at(kept.order, 0.0)
    cursor.fall_due(2.0)
    assert calls == ["first", "second"]
    assert ages.remove(2.0, first) is None
    assert ages.remove(2.0, second) is cursor
    assert ages.remove(3.0, first) is other
    assert kept.order is None
