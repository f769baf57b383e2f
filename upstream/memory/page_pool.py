"""The page pool: one preallocated region of bytes that everything here stores its values in.

The report's Storage Manager takes a chunk of main memory when it starts and gives it out page by
page (section 7). Here the chunk is one `bytearray`, and a memoryview over it that keeps it from
ever being resized. Several memories may share a pool, each dividing its pages into locations of a
size of its own; whoever needs a page first has it, whoever has emptied one gives it back.
"""

from __future__ import annotations

import operator

from ..errors import PagePoolFullError, ParameterError
from .page import Page


class PagePool:
    """Give out pages of one region of `size_bytes`, which is rounded down to whole pages.

    `location_bytes` is the size of a location for memories that do not choose another one.

    >>> pool = PagePool(10_000, page_bytes=4096)
    >>> pool.capacity, pool.page_count
    (8192, 2)
    >>> page = pool.allocate_page()
    >>> page.location_count, pool.pages_in_use
    (64, 1)
    >>> pool.release_page(page)
    >>> pool.pages_in_use
    0
    """

    __slots__ = ("_available", "_pages", "location_bytes", "page_bytes", "page_count", "region")

    def __init__(
        self, size_bytes: int, *, page_bytes: int = 4096, location_bytes: int = 64
    ) -> None:
        size_bytes = _positive_integer("size_bytes", size_bytes)
        self.page_bytes = _positive_integer("page_bytes", page_bytes)
        self.location_bytes = _positive_integer("location_bytes", location_bytes)
        self.locations_per_page(self.location_bytes)
        if size_bytes < self.page_bytes:
            raise ParameterError(
                "size_bytes", size_bytes, f"at least one page of {self.page_bytes} bytes"
            )
        self.page_count = size_bytes // self.page_bytes
        self.region = memoryview(bytearray(self.page_count * self.page_bytes))
        """The bytes of all pages."""
        # A page's bookkeeping is made when the page is first needed and kept from then on, so a
        # large pool that is hardly used costs little. The page returned last is given out first:
        # its bytes are the likeliest to be in the processor's cache.
        self._pages: list[Page] = []
        self._available: list[Page] = []

    @property
    def capacity(self) -> int:
        """The bytes in all pages together."""
        return self.page_count * self.page_bytes

    @property
    def pages_available(self) -> int:
        """How many pages can still be taken."""
        return self.page_count - len(self._pages) + len(self._available)

    @property
    def pages_in_use(self) -> int:
        """How many pages have been taken and not been returned."""
        return len(self._pages) - len(self._available)

    def locations_per_page(self, unit_bytes: int) -> int:
        """Return how many locations of `unit_bytes` a page holds."""
        unit_bytes = _positive_integer("location_bytes", unit_bytes)
        if unit_bytes > self.page_bytes:
            raise ParameterError(
                "location_bytes", unit_bytes, f"at most one page of {self.page_bytes} bytes"
            )
        return self.page_bytes // unit_bytes

    def allocate_page(self, unit_bytes: int | None = None) -> Page:
        """Take a page, divided into locations of `unit_bytes` (of `location_bytes` if None)."""
        if unit_bytes is None:
            unit_bytes = self.location_bytes
        elif not 0 < unit_bytes <= self.page_bytes:
            raise ParameterError("unit_bytes", unit_bytes, f"between 1 and {self.page_bytes}")
        if self._available:
            page = self._available.pop()
        elif len(self._pages) < self.page_count:
            page = Page(index=len(self._pages), page_bytes=self.page_bytes)
            self._pages.append(page)
        else:
            raise PagePoolFullError(self.capacity)
        page.open(unit_bytes)
        return page

    def release_page(self, page: Page) -> None:
        """Put a page back; what its locations held is void from now on."""
        assert self._pages[page.index] is page, "the page is another pool's"
        page.close()
        self._available.append(page)

    def _check(self) -> None:
        """Assert every invariant; O(locations)."""
        assert len(self.region) == self.capacity
        assert len(self._pages) <= self.page_count
        for index, page in enumerate(self._pages):
            assert page.index == index
            assert page.page_bytes == self.page_bytes
            page._check()
        returned = {page.index for page in self._available}
        assert len(returned) == len(self._available), "a page was returned twice"
        closed = {page.index for page in self._pages if page.unit_bytes == 0}
        assert returned == closed
        assert self.pages_in_use + self.pages_available == self.page_count


def _positive_integer(name: str, value: int) -> int:
    """Return `value` as an int, which NumPy's integers are not, if it is one above zero."""
    if not isinstance(value, bool):
        try:
            integer = operator.index(value)
        except TypeError:
            integer = 0
        if integer > 0:
            return integer
    raise ParameterError(name, value, "a positive number of bytes, as an integer")
