"""The page pool gives out each page once, and takes it back."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from upstream.errors import PagePoolFullError, ParameterError
from upstream.memory.page_pool import PagePool


def test_the_size_is_rounded_down_to_whole_pages() -> None:
    pool = PagePool(250, page_bytes=100, location_bytes=10)
    assert (pool.page_count, pool.capacity, len(pool.region)) == (2, 200, 200)


def test_pages_are_given_out_until_none_is_left_and_do_not_overlap() -> None:
    pool = PagePool(300, page_bytes=100, location_bytes=10)
    pages = [pool.allocate_page() for _ in range(3)]
    assert [page.base for page in pages] == [0, 100, 200]
    assert (pool.pages_in_use, pool.pages_available) == (3, 0)
    with pytest.raises(PagePoolFullError) as raised:
        pool.allocate_page()
    assert raised.value.capacity == 300
    pool._check()


def test_a_returned_page_is_given_out_again_with_locations_of_another_size() -> None:
    pool = PagePool(200, page_bytes=100, location_bytes=10)
    page = pool.allocate_page()
    assert page.location_count == 10
    pool.release_page(page)
    assert pool.pages_in_use == 0
    again = pool.allocate_page(50)
    assert again is page
    assert again.location_count == 2
    pool._check()


def test_a_page_is_not_returned_twice_nor_to_another_pool() -> None:
    pool, other = (PagePool(200, page_bytes=100, location_bytes=10) for _ in range(2))
    page = pool.allocate_page()
    other.allocate_page()
    with pytest.raises(AssertionError, match="belongs to another pool"):
        other.release_page(page)
    pool.release_page(page)
    with pytest.raises(AssertionError, match="in the pool already"):
        pool.release_page(page)


def test_the_region_cannot_be_resized() -> None:
    pool = PagePool(4096)
    region = pool.region.obj
    assert isinstance(region, bytearray)
    with pytest.raises(BufferError):
        region.append(0)
    assert len(pool.region) == 4096


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "4096", None, True])
@pytest.mark.parametrize("name", ["size_bytes", "page_bytes", "location_bytes"])
def test_a_size_must_be_a_positive_integer(name: str, wrong: object) -> None:
    sizes = {"size_bytes": 4096, "page_bytes": 1024, "location_bytes": 64}
    sizes[name] = cast(int, wrong)
    with pytest.raises(ParameterError) as raised:
        PagePool(**sizes)
    assert raised.value.name == name


def test_sizes_may_be_integers_of_numpy() -> None:
    pool = PagePool(cast(int, np.int64(8192)), page_bytes=cast(int, np.int32(4096)))
    assert type(pool.page_bytes) is int
    assert pool.page_count == 2


def test_a_page_must_hold_a_location_and_the_pool_a_page() -> None:
    with pytest.raises(ParameterError) as raised:
        PagePool(4096, page_bytes=32, location_bytes=64)
    assert raised.value.name == "location_bytes"
    with pytest.raises(ParameterError) as raised:
        PagePool(4095, page_bytes=4096)
    assert raised.value.name == "size_bytes"


@pytest.mark.parametrize("wrong", [0, -8, 101])
def test_a_page_is_not_divided_into_locations_that_it_cannot_hold(wrong: int) -> None:
    pool = PagePool(200, page_bytes=100, location_bytes=10)
    with pytest.raises(ParameterError):
        pool.allocate_page(wrong)
    with pytest.raises(ParameterError):
        pool.locations_per_page(wrong)
    assert pool.pages_in_use == 0


def test_a_pool_shows_how_many_pages_are_in_use() -> None:
    pool = PagePool(300, page_bytes=100, location_bytes=10)
    pool.allocate_page()
    assert repr(pool) == "<PagePool: 1 of 3 pages of 100 bytes in use>"
