"""The empty locations offer the page to allocate from, those with freed locations first."""

from __future__ import annotations

import pytest

from upstream.memory.empty_locations import EmptyLocations
from upstream.memory.page import Page


def open_page(index: int, locations: int) -> Page:
    page = Page(index=index, page_bytes=8 * locations)
    page.open(8)
    return page


def fill(empty_locations: EmptyLocations, page: Page) -> list[int]:
    empty_locations.add(page)
    return [empty_locations.allocate(page) for _ in range(page.location_count)]


def indices(empty_locations: EmptyLocations) -> list[int]:
    empty_locations._check()
    return [page.index for page in empty_locations]


def test_a_page_leaves_when_it_becomes_full_and_comes_back_when_a_location_is_freed() -> None:
    empty_locations = EmptyLocations()
    page = open_page(0, locations=2)
    first, second = fill(empty_locations, page)
    assert (first, second) == (0, 8)
    assert indices(empty_locations) == []
    assert empty_locations.first is None
    empty_locations.release(page, second)
    assert indices(empty_locations) == [0]
    assert empty_locations.allocate(page) == second
    assert indices(empty_locations) == []


def test_a_freed_location_is_picked_before_a_fresh_one() -> None:
    empty_locations = EmptyLocations()
    page = open_page(0, locations=4)
    empty_locations.add(page)
    first = empty_locations.allocate(page)
    empty_locations.allocate(page)
    empty_locations.release(page, first)
    assert page.next_available_location == first
    assert empty_locations.allocate(page) == first
    assert empty_locations.allocate(page) == 16


def test_a_page_with_freed_locations_comes_before_one_with_fresh_ones() -> None:
    empty_locations = EmptyLocations()
    old, new = open_page(0, locations=2), open_page(1, locations=2)
    offset = fill(empty_locations, old)[0]
    empty_locations.add(new)
    assert indices(empty_locations) == [1]
    empty_locations.release(old, offset)
    assert indices(empty_locations) == [0, 1]


def test_a_page_whose_freed_locations_are_used_up_goes_behind_those_that_have_some() -> None:
    empty_locations = EmptyLocations()
    old, new = open_page(0, locations=2), open_page(1, locations=3)
    old_offset = fill(empty_locations, old)[0]
    empty_locations.add(new)
    new_offset = empty_locations.allocate(new)
    empty_locations.release(old, old_offset)
    empty_locations.release(new, new_offset)
    assert indices(empty_locations) == [1, 0]
    assert empty_locations.allocate(new) == new_offset
    assert indices(empty_locations) == [0, 1]


def test_among_pages_with_freed_locations_the_one_that_was_full_last_comes_first() -> None:
    empty_locations = EmptyLocations()
    pages = [open_page(index, locations=3) for index in range(3)]
    offsets = [fill(empty_locations, page) for page in pages]
    for index in (1, 0, 2, 1):
        empty_locations.release(pages[index], offsets[index].pop())
    assert indices(empty_locations) == [2, 0, 1]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_any_page_can_be_removed(index: int) -> None:
    empty_locations = EmptyLocations()
    pages = [open_page(index, locations=3) for index in range(3)]
    for page in pages:
        empty_locations.add(page)
    empty_locations.remove(pages[index])
    assert indices(empty_locations) == [other for other in range(3) if other != index]
    assert len(empty_locations) == 2


def test_a_page_is_not_added_twice_and_a_location_not_freed_that_was_never_used() -> None:
    empty_locations = EmptyLocations()
    page = open_page(0, locations=2)
    empty_locations.add(page)
    with pytest.raises(AssertionError, match="here already"):
        empty_locations.add(page)
    with pytest.raises(AssertionError, match="not in use"):
        empty_locations.release(page, 0)


def test_nothing_is_allocated_from_a_full_page() -> None:
    empty_locations = EmptyLocations()
    page = open_page(0, locations=2)
    fill(empty_locations, page)
    with pytest.raises(AssertionError, match="no room"):
        empty_locations.allocate(page)
