"""An update expires at its age exactly, and a newer one of its key puts that off."""

from __future__ import annotations

import math

import pytest

from upstream.keys import NOBODY, KeyCell, Place
from upstream.queues.expiry import Expiry


def new_place(key: str) -> Place:
    return Place(KeyCell(key, 0, time=0.0, arrival=0.0), NOBODY)


class Waits:
    """When the update arrived that waits at each place, and what expired."""

    def __init__(self, age: float) -> None:
        self.arrivals: dict[Place, float] = {}
        self.expired: list[tuple[object, float]] = []
        self.expiry = Expiry(age, arrival_of=self.arrivals.get, expire=self.expire)

    def start(self, place: Place, arrival: float) -> None:
        self.arrivals[place] = arrival
        self.expiry.note(place, arrival)

    def expire(self, place: Place, due: float) -> None:
        del self.arrivals[place]
        self.expired.append((place.cell.key, due))

    def expire_until(self, now: float) -> list[tuple[object, float]]:
        self.expired.clear()
        while (due := self.expiry.next_due()) <= now:
            self.expiry.fall_due(due)
        return self.expired


def test_updates_expire_in_the_order_of_arrival_and_exactly_at_their_age() -> None:
    waits = Waits(5.0)
    first, second = new_place("A"), new_place("B")
    waits.start(first, 0.0)
    waits.start(second, 1.0)
    assert waits.expiry.next_due() == 5.0
    assert waits.expire_until(4.9) == []
    assert waits.expire_until(9.0) == [("A", 5.0), ("B", 6.0)]
    assert waits.expiry.next_due() == math.inf
    with pytest.raises(AssertionError, match="no update is due"):
        waits.expiry.fall_due(99.0)


def test_a_newer_update_puts_it_off_and_one_given_back_brings_it_forward() -> None:
    waits = Waits(5.0)
    place = new_place("A")
    waits.start(place, 1.0)
    waits.arrivals[place] = 4.0
    assert waits.expire_until(8.0) == []
    assert waits.expiry.next_due() == 9.0
    waits.start(place, 0.0)
    assert waits.expiry.next_due() == 5.0


def test_what_waits_no_more_does_not_expire() -> None:
    waits = Waits(5.0)
    served, forgotten, cleared = (new_place(key) for key in "ABC")
    for place in (served, forgotten, cleared):
        waits.start(place, 0.0)
    del waits.arrivals[served]
    waits.expiry.forget(forgotten)
    assert waits.expire_until(9.0) == [("C", 5.0)]
    waits.start(cleared, 9.0)
    waits.expiry.clear()
    assert waits.expiry.next_due() == math.inf
