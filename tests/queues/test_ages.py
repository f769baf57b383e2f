"""An age cursor finds the keys that fall due, each once, and again after they arrive again."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import ParameterError
from upstream.keys import ArrivalOrder, KeyCell
from upstream.queues.ages import AgeCursor, check_age


def cells_at(order: ArrivalOrder, *arrivals: float) -> list[KeyCell]:
    cells = [KeyCell(at, at, time=0.0, arrival=arrival) for at, arrival in enumerate(arrivals)]
    for cell in cells:
        order.append(cell)
    return cells


def all_due(cursor: AgeCursor, now: float) -> Iterator[KeyCell]:
    while (cell := cursor.take_due(now)) is not None:
        yield cell


def keys_due(cursor: AgeCursor, now: float) -> list[object]:
    return [cell.key for cell in all_due(cursor, now)]


def test_keys_fall_due_in_the_order_of_arrival_and_exactly_at_their_age() -> None:
    order = ArrivalOrder()
    cursor = AgeCursor(order, age=5.0)
    assert cursor.next_due() == math.inf
    cells_at(order, 0.0, 1.0, 1.0)
    assert cursor.next_due() == 5.0
    assert keys_due(cursor, 4.9) == []
    assert keys_due(cursor, 5.0) == [0]
    assert cursor.next_due() == 6.0
    assert keys_due(cursor, 9.0) == [1, 2]
    assert keys_due(cursor, 99.0) == []
    assert cursor.next_due() == math.inf


def test_keys_are_taken_one_at_a_time_and_each_once() -> None:
    order = ArrivalOrder()
    cursor = AgeCursor(order, age=5.0)
    assert cursor.take_due(99.0) is None
    first, second, third = cells_at(order, 0.0, 1.0, 9.0)
    assert cursor.take_due(6.0) is first
    assert cursor.next_due() == 6.0
    assert cursor.take_due(6.0) is second
    assert cursor.take_due(6.0) is None
    assert cursor.take_due(14.0) is third
    assert cursor.take_due(99.0) is None


def test_a_key_that_arrives_again_falls_due_again() -> None:
    order = ArrivalOrder()
    cursor = AgeCursor(order, age=5.0)
    first, _ = cells_at(order, 0.0, 1.0)
    assert keys_due(cursor, 6.0) == [0, 1]
    first.arrival = 7.0
    order.move_to_newest(first)
    assert cursor.next_due() == 12.0
    assert keys_due(cursor, 12.0) == [0]


def test_keys_may_leave_once_they_are_taken() -> None:
    order = ArrivalOrder()
    cursor = AgeCursor(order, age=1.0)
    cells = cells_at(order, 0.0, 0.0, 0.0)
    for cell in cells:
        assert cursor.take_due(2.0) is cell
        order.remove(cell)
        order._check()
    assert cursor.take_due(2.0) is None


def test_a_key_that_is_taken_may_take_the_next_with_it() -> None:
    order = ArrivalOrder()
    cursor = AgeCursor(order, age=1.0)
    first, second, third = cells_at(order, 0.0, 0.0, 0.0)
    assert cursor.take_due(2.0) is first
    order.remove(second)
    assert cursor.take_due(2.0) is third


def test_a_new_cursor_sees_the_keys_that_are_there_already() -> None:
    order = ArrivalOrder()
    cells_at(order, 0.0, 8.0)
    assert keys_due(AgeCursor(order, age=2.0), 9.0) == [0]


def test_a_closed_cursor_leaves_the_order_as_it_was() -> None:
    order = ArrivalOrder()
    cells = cells_at(order, 0.0, 1.0)
    cursor = AgeCursor(order, age=1.0)
    assert keys_due(cursor, 1.0) == [0]
    cursor.close()
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
    cursors = [AgeCursor(order, age) for age in ages]
    cells = cells_at(order, *[0.0] * 5)
    alive = [set(range(5)) for _ in ages]
    now = 0.0
    for key, passed in arrivals:
        now += passed
        for cursor, waiting in zip(cursors, alive, strict=True):
            due = {at for at in waiting if cells[at].arrival + cursor.age <= now}
            assert set(keys_due(cursor, now)) == due
            waiting -= due
            waiting.add(key)
        cells[key].arrival = now
        order.move_to_newest(cells[key])
        order._check()
        for cursor, waiting in zip(cursors, alive, strict=True):
            assert cursor.next_due() == min(cells[at].arrival for at in waiting) + cursor.age


@pytest.mark.parametrize("seconds", [None, 1, 0.5, 1e300])
def test_an_age_is_a_finite_number_above_zero_or_none(seconds: float | None) -> None:
    check_age("time_to_live", seconds)


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan])
def test_any_other_age_is_refused_by_name(seconds: float) -> None:
    with pytest.raises(ParameterError) as raised:
        check_age("time_to_live", seconds)
    assert raised.value.name == "time_to_live"
