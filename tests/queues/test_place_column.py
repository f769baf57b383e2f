"""The places of a queue, and how they are taken apart when nothing holds the rings any more."""

from __future__ import annotations

import pytest

from upstream.keys import NOBODY, KeyCell, Place
from upstream.queues.place_column import PlaceColumn, Rings


def place_of(key: str, index: int) -> Place:
    return Place(KeyCell(key, index, time=0.0, arrival=0.0), NOBODY)


def test_a_place_is_found_at_the_number_of_its_key() -> None:
    column = PlaceColumn()
    place = place_of("IBM", 2)
    assert column.place_of(place.cell) is None
    column.put(place.cell, place)
    assert column.place_of(place.cell) is place
    assert column.place_of(place_of("GM", 1).cell) is None
    with pytest.raises(AssertionError, match="two places"):
        column.put(place.cell, place)


def test_room_is_reserved_in_the_same_list() -> None:
    column = PlaceColumn()
    places = column.places
    column.reserve(3)
    assert column.places is places == [None] * 3
    with pytest.raises(AssertionError, match="has keys"):
        column.reserve(4)


class Part:
    def __init__(self) -> None:
        self.taken_apart = 0

    def take_apart(self) -> None:
        self.taken_apart += 1


def test_rings_take_apart_what_is_there_when_their_last_holder_goes() -> None:
    first, last = Part(), Part()
    parts: list[Part | None] = []
    rings = Rings()
    rings.add(parts)
    rings.add((last,))
    holders = [rings, rings]
    del rings
    parts += [first, None]
    holders.pop()
    assert (first.taken_apart, last.taken_apart) == (0, 0)
    holders.pop()
    assert (first.taken_apart, last.taken_apart) == (1, 1)


def test_a_place_that_was_closed_can_be_taken_apart() -> None:
    place = place_of("IBM", 0)
    place.cell.add_idle(place)
    place.take_apart()
    assert place.cell.idle is None
    place.take_apart()
