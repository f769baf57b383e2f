"""On-demand paging takes pages when it must and returns them as soon as it can."""

from __future__ import annotations

import pytest

from upstream.errors import PagePoolFullError, ParameterError
from upstream.memory.page import Location
from upstream.memory.page_pool import PagePool
from upstream.memory.paging import OnDemandPaging


@pytest.fixture
def pool() -> PagePool:
    return PagePool(4 * 32, page_bytes=32, location_bytes=8)


def test_a_page_is_taken_only_when_no_page_in_use_has_room(pool: PagePool) -> None:
    paging = OnDemandPaging(pool)
    pages_in_use = []
    for _ in range(9):
        paging.allocate()
        pages_in_use.append(pool.pages_in_use)
    assert pages_in_use == [1, 1, 1, 1, 2, 2, 2, 2, 3]


def test_a_page_is_returned_with_its_last_location(pool: PagePool) -> None:
    paging = OnDemandPaging(pool)
    locations = [paging.allocate() for _ in range(8)]
    for location in locations[:3]:
        paging.release(location)
    assert pool.pages_in_use == 2
    paging.release(locations[3])
    assert pool.pages_in_use == 1
    paging._check(locations[4:])


def test_the_next_available_page_may_be_returned(pool: PagePool) -> None:
    """The report's pseudo-code would go on allocating from the page that the pool has again."""
    paging = OnDemandPaging(pool)
    full = [paging.allocate() for _ in range(4)]
    single = paging.allocate()
    assert paging.next_available_page is single.page
    paging.release(single)
    assert paging.next_available_page is None
    assert paging.next_available_location is None
    other = OnDemandPaging(pool)
    assert other.allocate().page is single.page
    assert paging.allocate().page is not single.page
    assert len({location.page.index for location in full}) == 1


def test_the_next_available_page_may_become_full(pool: PagePool) -> None:
    """The report's pseudo-code would select it again: it never leaves the empty locations."""
    paging = OnDemandPaging(pool)
    offsets = [paging.allocate().offset for _ in range(4)]
    assert paging.next_available_page is None
    assert paging.allocate().offset not in offsets
    assert paging.next_available_location == 40


def test_a_location_freed_in_an_older_page_is_used_before_a_fresh_one(pool: PagePool) -> None:
    paging = OnDemandPaging(pool)
    older = [paging.allocate() for _ in range(4)]
    paging.allocate()
    offset = older[2].offset
    paging.release(older[2])
    assert paging.next_available_location == offset
    assert paging.allocate().offset == offset


def test_locations_may_be_blocks_larger_than_those_of_others_in_the_same_pool(
    pool: PagePool,
) -> None:
    tuples, blocks = OnDemandPaging(pool), OnDemandPaging(pool, 16)
    small = [tuples.allocate() for _ in range(5)]
    large = [blocks.allocate() for _ in range(4)]
    assert (tuples.pages_in_use, blocks.pages_in_use, pool.pages_in_use) == (2, 2, 4)
    assert (tuples.locations_available, blocks.locations_available) == (3, 0)
    with pytest.raises(PagePoolFullError):
        blocks.allocate()
    tuples._check(small)
    blocks._check(large)
    for location in small[:4]:
        tuples.release(location)
    large.append(blocks.allocate())
    blocks._check(large)
    pool._check()


def test_available_locations_are_in_pages_in_use_and_in_the_pool(pool: PagePool) -> None:
    paging, other = OnDemandPaging(pool), OnDemandPaging(pool)
    assert paging.locations_available == 16
    paging.allocate()
    assert paging.locations_available == 15
    other.allocate()
    assert paging.locations_available == 11


@pytest.mark.parametrize("wrong", [0, -1, 33])
def test_a_location_must_fit_into_a_page(pool: PagePool, wrong: int) -> None:
    with pytest.raises(ParameterError):
        OnDemandPaging(pool, wrong)


def test_a_location_is_not_released_twice(pool: PagePool) -> None:
    paging = OnDemandPaging(pool)
    location = paging.allocate()
    paging.release(location)
    with pytest.raises(AssertionError, match="already released"):
        paging.release(location)


def test_the_check_notices_two_values_in_one_location(pool: PagePool) -> None:
    paging = OnDemandPaging(pool)
    first, _ = paging.allocate(), paging.allocate()
    with pytest.raises(AssertionError, match="share a location"):
        paging._check([first, Location(first.page, first.offset)])
