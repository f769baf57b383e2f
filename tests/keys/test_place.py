"""A place starts out idle, uncounted and fresh."""

from __future__ import annotations

from upstream.keys import NOBODY, Place

from .owner import make_cell


def test_a_new_place_does_not_wait_and_is_not_counted() -> None:
    cell = make_cell("IBM")
    place = Place(cell, NOBODY)
    assert place.cell is cell
    assert place.owner is NOBODY
    assert (place.waiting_since, place.stale_since) == (None, None)
    assert place.line is None
    assert (place.in_process, place.version_before) == (0, 0)
    assert place.delivered_version == Place.UNCOUNTED
    assert place.waiting_rank == 0


def test_a_forgotten_key_is_newer_and_an_uncounted_key_older_than_any_update() -> None:
    a_century_of_updates = 100 * 366 * 86_400 * 10**9
    assert Place.UNCOUNTED < 0 < a_century_of_updates < Place.FORGOTTEN


def test_a_place_has_no_dict_of_its_own() -> None:
    assert not hasattr(Place(make_cell("IBM"), NOBODY), "__dict__")
