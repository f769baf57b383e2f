"""How keys start to wait in an update queue, without the queue."""

from __future__ import annotations

from upstream import InPlaceScheduler
from upstream.keys import KeyCell, Place
from upstream.queues.place_column import PlaceColumn
from upstream.queues.waiting_keys import WaitingKeys
from upstream.staleness import StalenessSums


def make(capacity: int | None, keys: str) -> tuple[WaitingKeys, InPlaceScheduler, list[Place]]:
    scheduler = InPlaceScheduler()
    column = PlaceColumn()
    waiting = WaitingKeys(scheduler, column, StalenessSums(), capacity)
    places = []
    for index, key in enumerate(keys):
        cell = KeyCell(key, index, time=0.0, arrival=0.0)
        waiting.welcome(cell, None)
        place = column.place_of(cell)
        assert place is not None
        assert cell.idle_places() == [place]
        places.append(place)
    return waiting, scheduler, places


def test_keys_wait_in_the_order_of_the_scheduler() -> None:
    waiting, scheduler, places = make(None, "AB")
    for now, place in enumerate(places):
        assert waiting.start(place, 1, float(now))
        assert place.waiting_since == place.stale_since == float(now)
    assert list(scheduler) == places
    assert not waiting.is_full


def test_what_finds_no_room_is_counted() -> None:
    waiting, scheduler, places = make(1, "AB")
    assert waiting.start(places[0], 1, 0.0)
    assert waiting.is_full
    assert not waiting.start(places[1], 1, 0.0, rows=3)
    waiting.refuse(2)
    assert waiting.rejected == 5
    assert list(scheduler) == places[:1]
    assert places[1].waiting_since is None
