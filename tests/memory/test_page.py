"""A page divides itself into locations of the size that is asked for. Their handles are small."""

from __future__ import annotations

import sys

import pytest

from upstream.memory.page import RELEASED, Location, Page


def test_an_open_page_has_as_many_locations_as_fit_and_leaves_the_rest_unused() -> None:
    page = Page(index=2, page_bytes=100)
    page.open(32)
    assert (page.base, page.end, page.location_count) == (200, 296, 3)
    assert page.next_available_location == 200
    page._check()


def test_a_location_may_be_as_large_as_the_page() -> None:
    page = Page(index=0, page_bytes=100)
    page.open(100)
    assert page.location_count == 1
    page._check()


def test_a_closed_page_has_no_locations_and_can_be_opened_with_another_size() -> None:
    page = Page(index=1, page_bytes=64)
    assert page.location_count == 0
    page.open(32)
    page.close()
    assert page.location_count == 0
    assert page.is_full
    page._check()
    page.open(8)
    assert page.location_count == 8
    page._check()


def test_a_page_is_neither_opened_nor_closed_twice() -> None:
    page = Page(index=0, page_bytes=64)
    with pytest.raises(AssertionError, match="in the pool already"):
        page.close()
    page.open(32)
    with pytest.raises(AssertionError, match="in use already"):
        page.open(32)


def test_the_check_notices_a_location_that_was_freed_twice() -> None:
    page = Page(index=0, page_bytes=64)
    page.open(32)
    page.fresh, page.freed, page.locations_in_use = 64, [32, 32], 0
    with pytest.raises(AssertionError, match="freed twice"):
        page._check()


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
