"""The keys of one queue: their places by number, and the mean of what their staleness was."""

from __future__ import annotations

import math

import pytest

from upstream.keys import NOBODY, KeyCell, Place
from upstream.queues.places import QueuePlaces


def cell_of(key: str, index: int) -> KeyCell:
    return KeyCell(key, index, time=0.0, arrival=0.0)


def open_place(places: QueuePlaces, cell: KeyCell) -> Place:
    place = Place(cell, NOBODY)
    places.put(cell, place)
    return place


@pytest.fixture
def places() -> QueuePlaces:
    return QueuePlaces()


def test_a_place_is_found_by_the_number_of_its_key(places: QueuePlaces) -> None:
    first, far = cell_of("A", 0), cell_of("B", 900)
    assert places.find(far) is None
    place = open_place(places, far)
    assert places.find(far) is place
    assert places.find(first) is None
    assert places.find(cell_of("C", 5_000)) is None


def test_room_that_is_reserved_is_taken_before_more_is(places: QueuePlaces) -> None:
    places.reserve(2)
    open_place(places, cell_of("B", 1))
    assert len(places.column) == 2
    open_place(places, cell_of("C", 2))
    assert len(places.column) > 2
    with pytest.raises(AssertionError, match="has keys"):
        places.reserve(9)


def test_a_key_has_one_place(places: QueuePlaces) -> None:
    cell = cell_of("A", 0)
    open_place(places, cell)
    with pytest.raises(AssertionError, match="already has a place"):
        open_place(places, cell)


def test_a_key_counts_from_its_first_arrival_until_it_is_forgotten(places: QueuePlaces) -> None:
    cell = cell_of("A", 3)
    place = open_place(places, cell)
    assert not places.has_arrived(cell)
    places.sums.begin(place, 1, now=2.0)
    assert places.has_arrived(cell)
    assert list(places.counted()) == [place]
    places._check()
    places.retire(place, now=4.0)
    place.delivered_version = Place.UNCOUNTED
    assert not places.has_arrived(cell)
    assert (places.sums.counted, places.forgotten) == (0, 1)
    places.retire(place, now=5.0)
    assert places.forgotten == 1, "what does not count cannot be forgotten"
    places._check()


def test_a_queue_holds_what_waits_or_is_in_process(places: QueuePlaces) -> None:
    cell = cell_of("A", 0)
    assert not places.holds(cell)
    place = open_place(places, cell)
    assert not places.holds(cell)
    place.waiting_since = 0.0
    assert places.holds(cell)
    place.waiting_since = None
    place.in_process = 1
    assert places.holds(cell)


def test_a_forgotten_key_counts_in_the_mean_as_it_was(places: QueuePlaces) -> None:
    assert math.isclose(places.mean("queue", now=0.0), 0.0)
    old, new = (open_place(places, cell_of(key, index)) for index, key in enumerate("AB"))
    for place in (old, new):
        places.sums.begin(place, 1, now=0.0)
        place.waiting_since = place.stale_since = 0.0
    # Staleness with slope one from 0 on: its average until t is t / 2.
    assert math.isclose(places.mean("queue", now=4.0), 2.0)
    places.retire(old, now=4.0)
    old.delivered_version = Place.FORGOTTEN
    places.column[0] = None
    assert math.isclose(places.mean("application", now=8.0), (2.0 + 4.0) / 2)
    places.close(now=8.0)
    assert math.isclose(places.mean("queue", now=100.0), 3.0)
    assert list(places.counted()) == []
