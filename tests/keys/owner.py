"""Cells and places, for tests of what they are linked into."""

from __future__ import annotations

from hypothesis import settings

from upstream.keys import NOBODY, KeyCell, Place

SHORT_RUNS = settings(stateful_step_count=30)
"""Many short lives of a structure find more than few long ones."""


def make_cell(key: object, *, index: int = 0, arrival: float = 0.0) -> KeyCell:
    return KeyCell(key, index, time=arrival, arrival=arrival)


def make_place(key: object, *, waiting_since: float | None = None) -> Place:
    place = Place(make_cell(key), NOBODY)
    place.waiting_since = waiting_since
    return place
