"""A cell knows in which queues its key does not wait."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from upstream.keys import NOBODY, KeyCell, Place

from .owner import SHORT_RUNS, make_cell


def test_a_new_cell_has_accepted_nothing_and_waits_nowhere() -> None:
    cell = KeyCell("IBM", 7, time=3.0, arrival=4.0)
    assert (cell.key, cell.index, cell.time, cell.arrival) == ("IBM", 7, 3.0, 4.0)
    assert (cell.version, cell.waiting, cell.value) == (0, 0, None)
    assert cell.idle_places() == []
    cell._check()


def test_a_place_that_waits_may_not_be_listed_as_idle() -> None:
    cell = make_cell("IBM")
    place = Place(cell, NOBODY)
    cell.add_idle(place)
    cell._check()
    place.waiting_since = 0.0
    with pytest.raises(AssertionError):
        cell._check()


def test_a_place_of_another_key_may_not_be_listed() -> None:
    cell = make_cell("IBM")
    cell.add_idle(Place(make_cell("DELL"), NOBODY))
    with pytest.raises(AssertionError):
        cell._check()


def test_a_place_that_is_not_listed_cannot_be_taken_off() -> None:
    cell = make_cell("IBM")
    with pytest.raises(AssertionError):
        cell.remove_idle(Place(cell, NOBODY))


def test_a_place_that_is_taken_off_is_not_taken_off_again() -> None:
    cell = make_cell("IBM")
    places = [Place(cell, NOBODY) for _ in range(3)]
    for place in places:
        cell.add_idle(place)
    cell.remove_idle(places[1])
    assert cell.idle_places() == [places[2], places[0]]
    with pytest.raises(AssertionError):
        cell.remove_idle(places[1])
    cell.add_idle(places[1])
    assert cell.idle_places() == [places[1], places[2], places[0]]
    cell._check()


class IdlePlacesMachine(RuleBasedStateMachine):
    """Idle places against a plain list, the latest first."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = make_cell("IBM")
        self.expected: list[Place] = []
        self.waiting: list[Place] = []

    @rule()
    def a_queue_opens_a_place(self) -> None:
        place = Place(self.cell, NOBODY)
        self.cell.add_idle(place)
        self.expected.insert(0, place)

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def a_place_starts_to_wait(self, data: st.DataObject) -> None:
        place = self.expected.pop(data.draw(st.integers(0, len(self.expected) - 1)))
        self.cell.remove_idle(place)
        self.waiting.append(place)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def a_place_waits_no_more(self, data: st.DataObject) -> None:
        place = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        self.cell.add_idle(place)
        self.expected.insert(0, place)

    @invariant()
    def the_list_is_as_expected(self) -> None:
        self.cell._check()
        assert self.cell.idle_places() == self.expected


TestIdlePlaces = IdlePlacesMachine.TestCase
TestIdlePlaces.settings = SHORT_RUNS
