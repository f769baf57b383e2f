"""On-demand memory: a key holds a location only while it waits.

This is the memory of the report's section 7.1. A location is released when its value is dequeued,
and a page returns to the pool as soon as none of its locations is used.
:mod:`upstream.memory.paging` allocates the locations, and says where it goes beyond the report's
MemAdd and MemRem. It is a module of its own because windows use it too, for blocks.
"""

from __future__ import annotations

from .location import Location
from .paged_memory import PagedMemory


class OnDemandMemory(PagedMemory):
    """Hold locations only for keys that wait, so that no location is dirty.

    `pool` is the page pool to allocate from.
    `location_bytes` is the size of a location. The default is that of the pool.

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
        """Release all locations of the value, so that its key keeps none; O(length)."""
        assert location.length >= 0, "the location holds no value"
        self.forget(location, now)
