"""A location: the handle by which a key finds its value in the page pool.

The report's key cell has two pointers: to the enclosing page and to the data location in it. Here
these pointers are an object of their own, to which the cell refers. So a cell without a value needs
no memory for them, and a value may have several locations.
"""

from __future__ import annotations

from typing import Final

from .page import Page

DIRTY: Final = -1
"""The `length` of a location that is held although its value is no longer needed."""

RELEASED: Final = -2
"""The `length` of a released location. Using its handle again is a bug."""


class Location:
    """Where one encoded value is, and how long it is.

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
