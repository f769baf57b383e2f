"""A location says where a value is, and is small."""

from __future__ import annotations

import sys

import pytest

from upstream.memory.location import RELEASED, Location
from upstream.memory.page import Page


@pytest.fixture
def location() -> Location:
    page = Page(index=3, page_bytes=64)
    page.open(32)
    return Location(page, page.next_available_location)


def test_a_location_shows_where_it_is_and_in_which_state(location: Location) -> None:
    assert repr(location) == "Location(page=3, offset=192, dirty)"
    location.length = 5
    assert repr(location) == "Location(page=3, offset=192, length=5)"
    location.length = RELEASED
    assert repr(location) == "Location(page=3, offset=192, released)"


def test_a_location_takes_no_more_than_its_four_references(location: Location) -> None:
    assert not hasattr(location, "__dict__")
    assert sys.getsizeof(location) <= sys.getsizeof(object()) + 16 + 4 * 8
