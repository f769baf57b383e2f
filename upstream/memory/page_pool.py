"""The page pool: one preallocated region of bytes in which all values are stored.

The report's Storage Manager takes a chunk of main memory when it starts, and allocates it page by
page (section 7). Here the chunk is one `bytearray`, with a memoryview that prevents it from being
resized. Several memories may share a pool, and each divides its pages into locations of its own
size. Pages go to the memories in the order in which these ask for them.
"""

from __future__ import annotations

import operator

from ..errors import PagePoolFullError, ParameterError
from .page import Page


class PagePool:
    """Allocate pages of one region of bytes.

    `size_bytes` is the size of the region. It is rounded down to whole pages.
    `page_bytes` is the size of a page.
    `location_bytes` is the size of a location in memories that do not choose another size.

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
        # The bookkeeping of a page is made when the page is first needed, so a large pool that is
        # hardly used costs little. The page returned last is allocated first, because its bytes are
        # most likely to be in the processor's cache.
        self._pages: list[Page] = []
        self._available: list[Page] = []

    def __repr__(self) -> str:
        return (
            f"<PagePool: {self.pages_in_use} of {self.page_count} pages of {self.page_bytes} bytes "
            "in use>"
        )

    @property
    def capacity(self) -> int:
        """The bytes in all pages together."""
        return self.page_count * self.page_bytes

    @property
    def pages_available(self) -> int:
        """How many pages can still be allocated."""
        return self.page_count - len(self._pages) + len(self._available)

    @property
    def pages_in_use(self) -> int:
        """How many pages are allocated now."""
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
        """Return a page that is divided into locations of `unit_bytes`.

        The default is the pool's `location_bytes`. Raises PagePoolFullError without a free page.
        """
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
        """Return a page to the pool. The contents of its locations are invalid from now on."""
        assert self._pages[page.index] is page, "the page belongs to another pool"
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
    """Return `value` as an int (NumPy integers are converted) if it is one and above zero."""
    if not isinstance(value, bool):
        try:
            integer = operator.index(value)
        except TypeError:
            integer = 0
        if integer > 0:
            return integer
    raise ParameterError(name, value, "a whole number of bytes above 0")
