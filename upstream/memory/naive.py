"""Naive memory: a key keeps its location, whether it waits or not.

The report compares on-demand paging to this (section 7.3). It needs one location for each key ever
seen, as if room for all keys had been preallocated. The locations of keys that do not wait are
dirty. It never needs to allocate a location for a known key.
"""

from __future__ import annotations

from .location import DIRTY, Location
from .paged_memory import PagedMemory


class NaiveMemory(PagedMemory):
    """Hold a location for every key that was ever seen and is not forgotten.

    `pool` is the page pool to allocate from.
    `location_bytes` is the size of a location. The default is that of the pool.

    >>> from upstream.memory import PagePool
    >>> memory = NaiveMemory(PagePool(4096))
    >>> location = memory.allocate(b"24.0", now=0.0)
    >>> location = memory.release(location, now=1.0)
    >>> usage = memory.usage(now=2.0)
    >>> usage.locations_held, usage.locations_live, usage.average_effective_usage
    (1, 0, 0.5)
    >>> memory.read(memory.overwrite(location, b"25.0", now=2.0))
    b'25.0'
    """

    __slots__ = ()

    def release(self, location: Location, now: float) -> Location:
        """Leave the first location dirty, and release those chained to it; O(length)."""
        assert location.length >= 0, "the location holds no value"
        if location.next is not None:
            self._cut(location, 1)
        location.length = DIRTY
        self._dirty += 1
        paging = self._paging
        self._meter.change(now, paging.locations_in_use, self._dirty, paging.pages_in_use)
        return location
