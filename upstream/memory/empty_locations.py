"""The empty locations: the pages in use that have room, and which of them is filled next.

The report calls this the Empty Locations Pool, ELP (section 7.1). To avoid fragmentation, it
prefers released locations to fresh ones, and uses all room here before it takes a page from the
pool. So pages with released locations come first, and among them the page that was full most
recently. That page probably has the fewest available locations and is soon full again. Emptier
pages are then left alone until their last values are released and the pages can be returned. (With
1,000 waiting keys that are dequeued at random, pages of 16 locations are 91 % used on average. If
the page that was full longest ago comes first, they are 87 % used.) The links are in the pages
themselves, so any page can be removed in O(1).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .page import Page


class EmptyLocations:
    """The pages that have available locations, first those with released locations.

    Every operation is O(1).

    >>> page = Page(index=0, page_bytes=128)
    >>> page.open(64)
    >>> empty_locations = EmptyLocations()
    >>> empty_locations.add(page)
    >>> first, second = empty_locations.allocate(page), empty_locations.allocate(page)
    >>> len(empty_locations), empty_locations.first
    (0, None)
    >>> empty_locations.release(page, first)
    >>> empty_locations.first is page
    True
    """

    __slots__ = ("_last", "_length", "first")

    def __init__(self) -> None:
        self.first: Page | None = None
        """The page to allocate from next, or None if no page has room."""
        self._last: Page | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Page]:
        page = self.first
        while page is not None:
            yield page
            page = page.next

    def add(self, page: Page) -> None:
        """Add a page that has room."""
        assert not page.is_listed, "the page is here already"
        assert not page.is_full
        if page.freed:
            self._link_first(page)
        else:
            self._link_last(page)
        page.is_listed = True
        self._length += 1

    def remove(self, page: Page) -> None:
        """Remove a page, because it is full or returns to the pool."""
        assert page.is_listed
        self._unlink(page)
        page.is_listed = False
        self._length -= 1

    def allocate(self, page: Page) -> int:
        """Allocate a location of a listed `page`, and return its offset.

        It is a released location if the page has one, or else a fresh one.
        """
        assert page.is_listed, "the page has no room"
        page.locations_in_use += 1
        if page.freed:
            offset = page.freed.pop()
            if page.freed:
                return offset
        else:
            offset = page.fresh
            page.fresh = offset + page.unit_bytes
        if page.fresh == page.end:
            self.remove(page)
        elif page is not self._last:
            self._unlink(page)
            self._link_last(page)
        return offset

    def release(self, page: Page, offset: int) -> None:
        """Make a location of `page` available again; the page may have been full."""
        assert page.base <= offset < page.fresh, "the location is not in use"
        page.freed.append(offset)
        page.locations_in_use -= 1
        if not page.is_listed:
            self.add(page)
        elif len(page.freed) == 1 and page is not self.first:
            self._unlink(page)
            self._link_first(page)

    def _link_first(self, page: Page) -> None:
        page.previous = None
        page.next = self.first
        if self.first is None:
            self._last = page
        else:
            self.first.previous = page
        self.first = page

    def _link_last(self, page: Page) -> None:
        page.previous = self._last
        page.next = None
        if self._last is None:
            self.first = page
        else:
            self._last.next = page
        self._last = page

    def _unlink(self, page: Page) -> None:
        if page.previous is None:
            self.first = page.next
        else:
            page.previous.next = page.next
        if page.next is None:
            self._last = page.previous
        else:
            page.next.previous = page.previous
        page.previous = page.next = None

    def _check(self) -> None:
        """Assert every invariant; O(pages)."""
        pages = list(self)
        assert len(pages) == len({id(page) for page in pages}) == self._length
        assert self._last is (pages[-1] if pages else None)
        for page, following in pairwise(pages):
            assert following.previous is page
            assert page.freed or not following.freed, "pages with freed locations come first"
        for page in pages:
            assert page.is_listed
            assert page.unit_bytes > 0
            assert not page.is_full
        assert not pages or pages[0].previous is None
