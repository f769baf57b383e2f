"""Places are found, made and removed, even if the keys raise when they are compared."""

from __future__ import annotations

import pytest

from upstream import TOMBSTONE, Key, KeyNotHashableError, LazyWindowBuffer
from upstream.keys import CLOSED, KeyCell
from upstream.queues.windows.recent_windows import KeyPlace, Processing
from upstream.queues.windows.window_keys import WindowKeys


class Asked:
    """Refuses the key 'bad', and notes the keys that were asked about."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.places = WindowKeys(self.make, self.terms_for)

    def make(self, cell: KeyCell, key_hash: int | None) -> KeyPlace:
        return KeyPlace(cell, LazyWindowBuffer(), Processing(), key_hash)

    def terms_for(self, key: Key) -> tuple[float | None, object]:
        self.keys.append(key)
        if key == "bad":
            raise ArithmeticError
        return 1.0, None

    def open(self, *keys: str) -> list[KeyPlace]:
        places = self.places.places_for(keys, [1] * len(keys))
        for number, place in enumerate(places):
            if place.cell.index == CLOSED:
                place.cell.index = number
        self.places.end_call()
        return places


def test_a_key_is_known_when_its_place_was_opened() -> None:
    asked = Asked()
    place = asked.places.place_for("A", 1)
    assert place.cell.index == CLOSED
    assert asked.places.terms_of(place) == (1.0, None)
    assert list(asked.places) == []
    place.cell.index = 0
    asked.places.end_call()
    assert asked.places.find("A") is place
    assert asked.places.places_for(["A", "A"], [1, 2]) == [place, place]
    assert asked.keys == ["A"]


def test_nothing_is_kept_about_keys_that_are_not_added() -> None:
    asked = Asked()
    asked.places.places_for(["A", "B"], [1, 2])
    asked.places.end_call()
    with pytest.raises(ArithmeticError):
        asked.places.places_for(["C", "bad"], [1, 2])
    assert asked.places.find("C") is None
    assert asked.places.places == {}


def test_a_key_that_cannot_be_one_is_named_with_its_row() -> None:
    asked = Asked()
    with pytest.raises(KeyNotHashableError, match="row 1"):
        asked.places.places_for(["A", []], [1, 2])  # type: ignore[list-item]


def test_a_key_that_is_forgotten_and_added_within_one_call_has_another_place() -> None:
    asked = Asked()
    (old,) = asked.open("A")
    assert asked.places.place_for("A", TOMBSTONE) is old
    old.cell.index = CLOSED
    old.delivered_version = KeyPlace.FORGOTTEN
    asked.places.forget(old)
    assert list(asked.places) == []
    new = asked.places.current(old)
    assert new is asked.places.current(old) is not old
    new.cell.index = 7
    assert list(asked.places) == [new]
    asked.places.end_call()
    assert asked.places.find("A") is new
    assert list(asked.places) == [new]


def test_a_forgotten_key_is_not_found() -> None:
    asked = Asked()
    (place,) = asked.open("A")
    place.cell.index = CLOSED
    asked.places.forget(place)
    assert asked.places.find("A") is None
    assert asked.places.places == {}
