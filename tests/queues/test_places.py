"""The keys of one queue: their places by number, and the mean of what their staleness was."""

from __future__ import annotations

import math

import pytest
from upstream.queues.queue_places import QueuePlaces

from upstream import ClosedError, InPlaceScheduler, ManualClock, ParameterError, UpdateQueue
from upstream.keys import KeyCell, Place
from upstream.staleness import KeyStaleness
from upstream.statistics import EstimatedRates, ProcessingCost, UpdateRates
from upstream.updates import Key


class Owner:
    """A queue that is never asked to start anything."""

    def start(self, place: Place, version: int, now: float, rows: int = 1) -> bool:
        raise AssertionError("nothing arrives here")


class Places(QueuePlaces):
    """The keys of a queue without the rest of it."""

    is_closed = False

    def _catch_up(self) -> float:
        return 0.0

    def _rates(self) -> UpdateRates:
        rates = EstimatedRates()
        rates.begin(cell_of("A", 0))
        return rates

    def _find(self, key: Key) -> Place | None:
        return None


def cell_of(key: str, index: int) -> KeyCell:
    return KeyCell(key, index, time=0.0, arrival=0.0)


def open_place(places: QueuePlaces, cell: KeyCell) -> Place:
    place = Place(cell, Owner())
    places._new_place(cell, place)
    return place


@pytest.fixture
def places() -> QueuePlaces:
    return Places(ProcessingCost(None))


def test_a_place_is_found_by_the_number_of_its_key(places: QueuePlaces) -> None:
    first, far = cell_of("A", 0), cell_of("B", 900)
    assert places.place_of(far) is None
    place = open_place(places, far)
    assert places.place_of(far) is place
    assert places.place_of(first) is None
    assert places.place_of(cell_of("C", 5_000)) is None


def test_room_that_is_reserved_is_taken_before_more_is(places: QueuePlaces) -> None:
    places._reserve(2)
    open_place(places, cell_of("B", 1))
    assert len(places._places) == 2
    open_place(places, cell_of("C", 2))
    assert len(places._places) > 2
    with pytest.raises(AssertionError, match="has keys"):
        places._reserve(9)


def test_a_key_has_one_place(places: QueuePlaces) -> None:
    cell = cell_of("A", 0)
    open_place(places, cell)
    with pytest.raises(AssertionError, match="two places"):
        open_place(places, cell)


def test_a_key_counts_from_its_first_arrival_until_it_is_forgotten(places: QueuePlaces) -> None:
    cell = cell_of("A", 3)
    place = open_place(places, cell)
    assert not places.counts(cell)
    places._begin(place, 1, now=2.0)
    assert places.counts(cell)
    assert list(places._counted_places()) == [place]
    places._check()
    places._retire(place, now=4.0)
    place.delivered_version = Place.UNCOUNTED
    assert not places.counts(cell)
    assert (places.key_count, places._forgotten) == (0, 1)
    places._retire(place, now=5.0)
    assert places._forgotten == 1, "what does not count cannot be forgotten"
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


def test_the_table_of_staleness_is_of_the_keys_that_count(places: QueuePlaces) -> None:
    counted, uncounted = (open_place(places, cell_of(key, at)) for at, key in enumerate("AB"))
    places._begin(counted, 1, now=0.0)
    assert uncounted.waiting_since is None
    assert places.key_staleness() == [KeyStaleness("A", None, 0.0, 0.0, 0.0, 0.0)]


def test_a_forgotten_key_counts_in_the_mean_as_it_was(places: QueuePlaces) -> None:
    assert math.isclose(places._mean_over_keys("queue", now=0.0), 0.0)
    old, new = (open_place(places, cell_of(key, index)) for index, key in enumerate("AB"))
    for place in (old, new):
        places._begin(place, 1, now=0.0)
        place.waiting_since = place.stale_since = 0.0
    # Staleness with slope one from 0 on: its average until t is t / 2.
    assert math.isclose(places._mean_over_keys("queue", now=4.0), 2.0)
    places._retire(old, now=4.0)
    old.delivered_version = Place.FORGOTTEN
    places._places[0] = None
    assert math.isclose(places._mean_over_keys("application", now=8.0), (2.0 + 4.0) / 2)
    places._retire_all(now=8.0)
    assert math.isclose(places._mean_over_keys("queue", now=100.0), 3.0)
    assert list(places._counted_places()) == []


def overloaded_queue() -> UpdateQueue:
    """Return a queue with keys that wait, keys that do not, and one that was forgotten."""
    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    for number in range(25):
        clock.advance(1.0)
        queue.enqueue(number % 10, number)
        if number % 3 == 0:
            update = queue.dequeue()
            assert update is not None
            queue.deliver(update)
    queue.forget(4)
    clock.advance(2.0)
    return queue


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_the_parts_of_the_table_of_staleness_make_the_whole(rows: int) -> None:
    queue = overloaded_queue()
    parts = list(queue.key_staleness_in_parts(rows))
    assert all(len(part) <= rows for part in parts)
    assert [row for part in parts for row in part] == queue.key_staleness()


def test_the_means_of_all_rows_are_those_of_the_queue_with_forgotten_keys() -> None:
    queue = overloaded_queue()
    means = queue.mean_staleness(queue.key_staleness())
    assert means == pytest.approx((queue.queue_staleness(), queue.application_staleness()))
    assert queue.key_count == 9
    empty = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    assert empty.mean_staleness([]) == (0.0, 0.0)


def test_a_queue_that_is_closed_between_two_parts_has_no_further_one() -> None:
    queue = overloaded_queue()
    parts = queue.key_staleness_in_parts(2)
    assert len(next(parts)) == 2
    queue.close()
    with pytest.raises(ClosedError):
        next(parts)


def test_a_part_has_at_least_one_row() -> None:
    with pytest.raises(ParameterError):
        next(overloaded_queue().key_staleness_in_parts(0))
