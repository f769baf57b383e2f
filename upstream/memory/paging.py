"""On-demand paging: single locations, from as few pages as possible at any moment.

This is the report's MemAdd and MemRem (section 7.1), for locations of any one size. Tuples use the
pool's usual locations, and windows use whole blocks. The report's pseudo-code leaves some cases
open. Here they are decided as follows:

* *The next available page becomes full.* The code never says when a page leaves the empty
  locations, so a full page could be selected again. Here a page leaves with its last available
  location.
* *The next available page is returned to the pool.* The code keeps pointing at it. Here the next
  available page is not stored: it is always the first page of the empty locations.
* *A page is taken too early.* The code looks for the next location as soon as the last one is used,
  so filling a page immediately takes another one. Here a page is taken when a location is needed.
* *MemRem does not return pages*, although the text requires it. Here a page returns to the pool
  when its last used location is released.
"""

from __future__ import annotations

from .empty_locations import EmptyLocations
from .page import DIRTY, RELEASED, Location, Page
from .page_pool import PagePool


class OnDemandPaging:
    """Allocate and release locations of `unit_bytes`; the default is the pool's `location_bytes`.

    A page is taken from the pool when no page in use has room. It returns to the pool when its last
    used location is released, so no page in use is ever empty.

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
        """The bytes of all locations if every page of the pool were used here."""
        return self.pool.page_count * self.locations_per_page * self.unit_bytes

    @property
    def locations_available(self) -> int:
        """How many more locations can be allocated, from pages in use and from the pool."""
        pages = self.pages_in_use + self.pool.pages_available
        return pages * self.locations_per_page - self.locations_in_use

    @property
    def next_available_page(self) -> Page | None:
        """The page of the next location, or None if a page must be taken from the pool first."""
        return self._empty_locations.first

    @property
    def next_available_location(self) -> int | None:
        """The offset of the next location, or None if a page must be taken from the pool first."""
        page = self._empty_locations.first
        return None if page is None else page.next_available_location

    def allocate(self) -> Location:
        """Return a location without a value (MemAdd); raises PagePoolFullError without room."""
        page = self._empty_locations.first
        if page is None:
            page = self.pool.allocate_page(self.unit_bytes)
            self.pages_in_use += 1
            self._empty_locations.add(page)
        self.locations_in_use += 1
        return Location(page, self._empty_locations.allocate(page))

    def release(self, location: Location) -> None:
        """Release one location (MemRem) but not those chained to it; return an empty page.

        Amortised O(1): a page that returns to the pool forgets its released locations.
        """
        assert location.length != RELEASED, "the location is already released"
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
        """Assert every invariant, given all locations in use; O(locations)."""
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
