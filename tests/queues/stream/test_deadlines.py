"""An age cursor finds the keys that fall due, each once, and again after they arrive again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import ParameterError
from upstream.keys import ArrivalOrder, KeyCell
from upstream.queues.stream.deadlines import AgeCursor, check_age


def cells_at(order: ArrivalOrder, *arrivals: float) -> list[KeyCell]:
    cells = [KeyCell(at, at, time=0.0, arrival=arrival) for at, arrival in enumerate(arrivals)]
    for cell in cells:
        order.append(cell)
    return cells


class Watch:
    """A cursor, with what fell due there."""

    def __init__(self, order: ArrivalOrder, age: float) -> None:
        self.taken: list[tuple[object, float]] = []
        self.cursor = AgeCursor(order, age)
        self.cursor.add(self.take)

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
    with pytest.raises(AssertionError, match="not there"):
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

    class Leaving:
        def leave(self, cell: KeyCell, _: float) -> None:
            left.append(cell)
            for gone in (cell, second) if cell is first else (cell,):
                order.remove(gone)
            order._check()

    leaving = Leaving()
    cursor = AgeCursor(order, 1.0)
    cursor.add(leaving.leave)
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
    watch = Watch(order, age=1.0)
    assert watch.keys_due(1.0) == [0]
    watch.cursor.close()
    assert list(order) == cells
    order._check()


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40),
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
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


@pytest.mark.parametrize("seconds", [None, 1, 0.5, 1e300])
def test_an_age_is_a_finite_number_above_zero_or_none(seconds: float | None) -> None:
    assert check_age("time_to_live", seconds) == seconds


def test_an_age_becomes_a_float() -> None:
    assert type(check_age("time_to_live", np.float32(1.5))) is float
    assert type(check_age("time_to_live", 2)) is float


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan])
def test_any_other_age_is_refused_by_name(seconds: float) -> None:
    with pytest.raises(ParameterError) as raised:
        check_age("time_to_live", seconds)
    assert raised.value.name == "time_to_live"


def test_a_cursor_keeps_nothing_alive_that_it_calls() -> None:
    order = ArrivalOrder()
    cells_at(order, 0.0, 1.0)
    watch = Watch(order, age=5.0)
    cursor, taken = watch.cursor, watch.taken
    assert cursor.calls(watch.take)
    assert not cursor.is_idle
    cursor.fall_due(5.0)
    del watch
    cursor.fall_due(6.0)
    assert taken == [(0, 5.0)]


def test_a_cursor_is_idle_when_all_was_removed() -> None:
    watch = Watch(ArrivalOrder(), age=5.0)
    watch.cursor.remove(watch.take)
    assert watch.cursor.is_idle
    assert not watch.cursor.calls(watch.take)
