"""On-demand memory: a key holds a location while it waits, and no longer.

This is the memory of the report's section 7.1: a location is released when its value is dequeued,
and a page is returned to the pool as soon as none of its locations is used. How locations are
found, and where we had to go beyond the report's MemAdd and MemRem (when the next available page
becomes full or is returned), is in :mod:`upstream.memory.paging`, so that windows can use the
same mechanism with blocks.
"""

from __future__ import annotations

from .location import Location
from .paged_memory import PagedMemory


class OnDemandMemory(PagedMemory):
    """Hold locations of a page pool for the keys that wait, and no dirty ones.

    >>> from upstream.memory import PagePool
    >>> pool = PagePool(4096)
    >>> memory = OnDemandMemory(pool)
    >>> location = memory.allocate(b"24.0", now=0.0)
    >>> memory.read(location)
    b'24.0'
    >>> memory.release(location, now=1.0)
    >>> pool.pages_in_use
    0
    """

    __slots__ = ()

    def release(self, location: Location, now: float) -> None:
        """Release all locations of the value: its key keeps none; O(length)."""
        assert location.length >= 0, "the location holds no value"
        self.forget(location, now)
