"""A page: an aligned part of the page pool's region, divided into locations of one size.

The size of the locations is chosen when the page is taken from the pool. So one pool can serve
tuples and the larger blocks of windows at the same time. The report calls a page the enclosing page
and keeps its list of available locations in the Empty Locations Pool. Here the page has the list
itself. Released locations are on a stack, and an offset marks where the locations begin that were
not used since the page was taken. So opening a page costs the same for any number of locations.
:mod:`upstream.memory.empty_locations` allocates these locations and releases them.

The report's key cell has two pointers: to the enclosing page and to the data location in it. Here
these pointers are an object of their own, a :class:`Location`, to which the cell refers. So a cell
without a value needs no memory for them, and a value may have several locations.
"""

from __future__ import annotations

from typing import Final

DIRTY: Final = -1
"""The `length` of a location that is held although its value is no longer needed."""

RELEASED: Final = -2
"""The `length` of a released location. Using its handle again is a bug."""


class Page:
    """The locations of one page, and which of them are available.

    Offsets are counted from the start of the pool's region. A page in the pool is closed: it has no
    locations.

    >>> page = Page(index=1, page_bytes=256)
    >>> page.open(64)
    >>> page.location_count, page.next_available_location, page.end
    (4, 256, 512)
    """

    __slots__ = (
        "base",
        "end",
        "freed",
        "fresh",
        "index",
        "is_listed",
        "locations_in_use",
        "next",
        "page_bytes",
        "previous",
        "unit_bytes",
    )

    def __init__(self, *, index: int, page_bytes: int) -> None:
        self.index = index
        self.page_bytes = page_bytes
        self.base = index * page_bytes
        """The offset of the first byte of the page in the region."""
        self.unit_bytes = 0
        """The size of its locations; 0 while the page is in the pool."""
        self.end = self.base
        """The offset after its last location."""
        self.fresh = self.base
        """The first offset that was not used since the page was taken from the pool."""
        self.freed: list[int] = []
        """The offsets that were released and are available again."""
        self.locations_in_use = 0
        self.is_listed = False
        """Whether the page is in the list of the empty locations."""
        self.previous: Page | None = None
        self.next: Page | None = None

    def open(self, unit_bytes: int) -> None:
        """Divide the page into locations of `unit_bytes`. A remainder at the end stays unused."""
        assert self.unit_bytes == 0, "the page is in use already"
        self.unit_bytes = unit_bytes
        self.end = self.base + self.page_bytes // unit_bytes * unit_bytes

    def close(self) -> None:
        """Make all its locations invalid; O(1), amortised over the releases."""
        assert self.unit_bytes > 0, "the page is in the pool already"
        assert not self.is_listed
        self.unit_bytes = 0
        self.end = self.fresh = self.base
        self.freed.clear()
        self.locations_in_use = 0

    @property
    def location_count(self) -> int:
        """How many locations the page is divided into."""
        return (self.end - self.base) // self.unit_bytes if self.unit_bytes else 0

    @property
    def is_full(self) -> bool:
        """Whether no location is available."""
        return not self.freed and self.fresh == self.end

    @property
    def next_available_location(self) -> int:
        """The offset that will be allocated next: a released one if there is any."""
        assert not self.is_full
        return self.freed[-1] if self.freed else self.fresh

    def _check(self) -> None:
        """Assert every invariant; O(locations)."""
        assert self.base == self.index * self.page_bytes
        assert self.base <= self.fresh <= self.end <= self.base + self.page_bytes
        if self.unit_bytes == 0:
            assert self.end == self.fresh == self.base, "a closed page has no locations"
            assert not self.freed
            assert not self.locations_in_use
            assert not self.is_listed
            return
        used_once = range(self.base, self.fresh, self.unit_bytes)
        assert len(self.freed) == len(set(self.freed)), "a location was freed twice"
        assert all(offset in used_once for offset in self.freed)
        assert (self.end - self.base) % self.unit_bytes == 0
        assert self.base + self.page_bytes - self.end < self.unit_bytes
        assert self.locations_in_use == len(used_once) - len(self.freed)
        assert self.is_full == (self.locations_in_use == self.location_count)


class Location:
    """The handle of a value in the page pool: where its bytes are, and how many there are.

    A value that is longer than a location is chained over several of them by `next`. `length` is
    the number of bytes of the value from this location on, so the rest of a chain is a chain too.
    It is negative if there is no value (:data:`DIRTY`, :data:`RELEASED`). One location object
    exists for every key that holds memory, so it has no further attributes.

    >>> page = Page(index=0, page_bytes=4096)
    >>> page.open(64)
    >>> Location(page, page.next_available_location)
    Location(page=0, offset=0, dirty)
    """

    __slots__ = ("length", "next", "offset", "page")

    def __init__(self, page: Page, offset: int) -> None:
        self.page = page
        """The enclosing page."""
        self.offset = offset
        """The data location: where the bytes begin in the region of the pool."""
        self.length = DIRTY
        self.next: Location | None = None

    def __repr__(self) -> str:
        if self.length >= 0:
            state = f"length={self.length}"
        else:
            state = "dirty" if self.length == DIRTY else "released"
        return f"Location(page={self.page.index}, offset={self.offset}, {state})"
