"""On-demand paging: single locations, from as few pages as there are at any moment.

This is the report's MemAdd and MemRem (section 7.1), for locations of any one size: tuples take
the pool's usual locations, windows whole blocks. The report's pseudo-code leaves gaps. We fill
them so:

* *The next available page becomes full.* The code never says when a page leaves the empty
  locations, so it could be selected again. Here a page leaves with its last available location.
* *The next available page is returned to the pool.* The code keeps pointing at it. Here the next
  available page is not remembered at all, it *is* the first page of the empty locations.
* *A page is taken ahead of need.* The code looks for the next location as soon as the last one is
  used, so a full page at once costs another one. Here a page is taken when a location is asked
  for, and never before.
* *MemRem does not return pages*, though the text demands it. Here a page goes back to the pool
  with its last used location.
"""

from __future__ import annotations

from .empty_locations import EmptyLocations
from .location import DIRTY, RELEASED, Location
from .page import Page
from .page_pool import PagePool


class OnDemandPaging:
    """Allocate and release locations of `unit_bytes` (the pool's `location_bytes` if None).

    A page is taken from the pool when no page in use has room, and returned to it with its last
    used location, so no page in use is ever empty.

    >>> pool = PagePool(8192, page_bytes=4096)
    >>> paging = OnDemandPaging(pool)
    >>> location = paging.allocate()
    >>> pool.pages_in_use
    1
    >>> paging.release(location)
    >>> pool.pages_in_use
    0
    """

    __slots__ = (
        "_empty_locations",
        "locations_in_use",
        "locations_per_page",
        "pages_in_use",
        "pool",
        "unit_bytes",
    )

    def __init__(self, pool: PagePool, unit_bytes: int | None = None) -> None:
        self.pool = pool
        self.unit_bytes = pool.location_bytes if unit_bytes is None else unit_bytes
        self.locations_per_page = pool.locations_per_page(self.unit_bytes)
        self.locations_in_use = 0
        self.pages_in_use = 0
        self._empty_locations = EmptyLocations()

    @property
    def capacity(self) -> int:
        """The bytes that all locations would have if every page of the pool were here."""
        return self.pool.page_count * self.locations_per_page * self.unit_bytes

    @property
    def locations_available(self) -> int:
        """How many more locations can be allocated, in pages in use and in the pool's pages."""
        pages = self.pages_in_use + self.pool.pages_available
        return pages * self.locations_per_page - self.locations_in_use

    @property
    def next_available_page(self) -> Page | None:
        """The page that the next location comes from, None if one will be taken from the pool."""
        return self._empty_locations.first

    @property
    def next_available_location(self) -> int | None:
        """The offset that is allocated next, None if a page will be taken from the pool."""
        page = self._empty_locations.first
        return None if page is None else page.next_available_location

    def allocate(self) -> Location:
        """Return a location that holds no value yet (MemAdd), or raise PagePoolFullError."""
        page = self._empty_locations.first
        if page is None:
            page = self.pool.allocate_page(self.unit_bytes)
            self.pages_in_use += 1
            self._empty_locations.add(page)
        self.locations_in_use += 1
        return Location(page, self._empty_locations.allocate(page))

    def release(self, location: Location) -> None:
        """Take back one location (MemRem), not those chained to it, and its page if that was all.

        Amortized O(1): a page that is returned forgets its freed locations.
        """
        assert location.length != RELEASED, "the location was released before"
        location.length = RELEASED
        self.locations_in_use -= 1
        page = location.page
        if page.locations_in_use > 1:
            self._empty_locations.release(page, location.offset)
            return
        if page.is_listed:
            self._empty_locations.remove(page)
        self.pool.release_page(page)
        self.pages_in_use -= 1

    def _check(self, locations: list[Location]) -> None:
        """Assert every invariant, given all locations that are in use; O(locations)."""
        self._empty_locations._check()
        assert len(locations) == self.locations_in_use
        offsets = {location.offset for location in locations}
        assert len(offsets) == len(locations), "two values share a location"
        pages = {location.page.index: location.page for location in locations}
        assert len(pages) == self.pages_in_use, "an empty page is in use"
        for location in locations:
            page = location.page
            assert location.length >= DIRTY
            assert page.unit_bytes == self.unit_bytes
            assert page.base <= location.offset < page.fresh
            assert (location.offset - page.base) % self.unit_bytes == 0
            assert location.offset not in page.freed
        assert sum(page.locations_in_use for page in pages.values()) == len(locations)
        assert {page.index for page in self._empty_locations} == {
            page.index for page in pages.values() if not page.is_full
        }
        available = sum(page.location_count - page.locations_in_use for page in pages.values())
        available += self.pool.pages_available * self.locations_per_page
        assert available == self.locations_available
