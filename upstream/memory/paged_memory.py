"""Memories: encoded values in locations of the page pool, on demand or for every key.

A key has no location until its first value is stored. From then on it owns the handle that it got.
The memories differ in what happens to a location when its key no longer waits. Every `now` is the
time of the queue's clock and never goes back.

Nearly every enqueue overwrites a value with one that fits its location. This takes a length check,
one copy and one store. No count changes, so no average is touched. Everything else may take longer.
Whatever can fail is checked before anything changes, so there is nothing to undo.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

from ..errors import AlreadyAttachedError, PagePoolFullError, ValueTooLargeError
from .page import DIRTY, RELEASED, Location
from .page_pool import PagePool
from .paging import OnDemandPaging
from .usage import MemoryUsage, UsageMeter


class Memory(ABC):
    """Store encoded values in chains of locations. The kinds differ in what `release` does.

    `pool` is the page pool to allocate from.
    `location_bytes` is the size of a location. The default is that of the pool.

    Every call is O(1), plus the length of a value that needs several locations. Using a handle
    after its release is a bug in the caller, and an assertion fails.

    >>> memory = OnDemandMemory(PagePool(4096, location_bytes=8))
    >>> location = memory.allocate(b"24.0", now=0.0)
    >>> location = memory.overwrite(location, b"24.125 USD", now=1.0)
    >>> memory.read(location)
    b'24.125 USD'
    >>> memory.usage(now=2.0).locations_held
    2
    """

    __slots__ = (
        "_dirty",
        "_is_claimed",
        "_meter",
        "_paging",
        "_region",
        "_write",
        "location_bytes",
        "pool",
    )

    def __init__(self, pool: PagePool, *, location_bytes: int | None = None) -> None:
        self.pool = pool
        self._paging = OnDemandPaging(pool, location_bytes)
        self.location_bytes = self._paging.unit_bytes
        self._region = pool.region
        # A struct copies bytes into the region in a third of the time, because a slice must be made
        # first. It fills the rest of the location with zeros.
        self._write: Callable[[memoryview, int, bytes], None] = struct.Struct(
            f"{self.location_bytes}s"
        ).pack_into
        self._dirty = 0
        self._is_claimed = False
        self._meter = UsageMeter(location_bytes=self.location_bytes, page_bytes=pool.page_bytes)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self._paging.locations_in_use} locations of "
            f"{self.location_bytes} bytes held, {self._dirty} dirty>"
        )

    @property
    def region(self) -> memoryview:
        """The bytes of the pool. The owner of a location may use its part of them directly."""
        return self._region

    def claim(self) -> None:
        """Note that a stream stores its values here; a second stream raises AlreadyAttachedError.

        Usage is averaged over time, and the events of several streams would not be in that order.
        """
        if self._is_claimed:
            raise AlreadyAttachedError(
                f"this {type(self).__name__} already serves a stream; make one for each stream "
                "(they may share a PagePool)"
            )
        self._is_claimed = True

    def fits(self, length: int) -> bool:
        """Tell whether a value of `length` bytes would fit if the pool were empty."""
        return length <= self._paging.capacity

    def check_length(self, length: int) -> None:
        """Raise ValueTooLargeError unless a value of `length` bytes fits."""
        if length > self._paging.capacity:
            raise ValueTooLargeError(length, self._paging.capacity)

    def has_room_for(self, lengths: Iterable[int]) -> bool:
        """Tell whether new values of these lengths would all find room now.

        None of them replaces another. Raises ValueTooLargeError if one can never fit. O(lengths).
        """
        needed = 0
        for length in lengths:
            self.check_length(length)
            needed += self._locations_for(length)
        return needed <= self._paging.locations_available

    def allocate(self, data: bytes, now: float) -> Location:
        """Store the value of a key that has no location; O(length).

        Raises PagePoolFullError if there is no room now and ValueTooLargeError if there never will
        be. Then nothing has changed.
        """
        length = len(data)
        paging = self._paging
        if length > self.location_bytes:
            needed = self._locations_for(length)
            self._check_room(needed, length)
            location = paging.allocate()
            self._extend(location, needed - 1)
            self._write_chain(location, data)
        else:
            location = paging.allocate()
            self._write(self._region, location.offset, data)
            location.length = length
        self._meter.change(now, paging.locations_in_use, self._dirty, paging.pages_in_use)
        return location

    def overwrite(self, location: Location, data: bytes, now: float) -> Location:
        """Replace the value at `location` by `data`, and return the handle to keep; O(length).

        A longer value needs more locations, and a shorter one releases some. A dirty location
        becomes live again. Raises like `allocate`; then the old value is unchanged.
        """
        length = len(data)
        if length > self.location_bytes or location.next is not None or location.length < 0:
            return self._resize(location, data, now)
        self._write(self._region, location.offset, data)
        location.length = length
        return location

    def read(self, location: Location) -> bytes:
        """Return the value at `location`; O(length)."""
        length = location.length
        assert length >= 0, "the location holds no value"
        if location.next is None:
            start = location.offset
            return self._region[start : start + length].tobytes()
        offsets = [part.offset for part in _chain(location)]
        parts = [self._region[start : start + self.location_bytes] for start in offsets]
        return b"".join(parts)[:length]

    @abstractmethod
    def release(self, location: Location, now: float) -> Location | None:
        """Release the value because its key no longer waits; return what the key keeps, or None.

        A returned location is dirty: it can be overwritten and forgotten, but not read.
        """

    def forget(self, location: Location, now: float) -> None:
        """Release everything that a forgotten key holds; O(length)."""
        if location.length == DIRTY:
            self._dirty -= 1
        paging = self._paging
        if location.next is None:
            paging.release(location)
        else:
            self._release_chain(location)
        self._meter.change(now, paging.locations_in_use, self._dirty, paging.pages_in_use)

    def usage(self, now: float) -> MemoryUsage:
        """Return what is held now, and the averages so far; change nothing."""
        return self._meter.usage(now)

    def _locations_for(self, length: int) -> int:
        """Return how many locations a value needs; an empty value needs one as its handle."""
        return -(-length // self.location_bytes) or 1

    def _check_room(self, needed: int, length: int) -> None:
        if needed > self._paging.locations_available:
            self.check_length(length)
            raise PagePoolFullError(self.pool.capacity)

    def _resize(self, location: Location, data: bytes, now: float) -> Location:
        """Overwrite a value if the number of its locations, or of dirty ones, may change."""
        assert location.length != RELEASED, "the location is already released"
        is_dirty = location.length == DIRTY
        held = self._locations_for(max(location.length, 0))
        needed = self._locations_for(len(data))
        if needed > held:
            self._check_room(needed - held, len(data))
            self._extend(location, needed - held)
        elif needed < held:
            self._cut(location, needed)
        self._write_chain(location, data)
        if needed != held or is_dirty:
            self._dirty -= is_dirty
            paging = self._paging
            self._meter.change(now, paging.locations_in_use, self._dirty, paging.pages_in_use)
        return location

    def _extend(self, location: Location, count: int) -> None:
        """Chain `count` more locations to the end of a chain."""
        while location.next is not None:
            location = location.next
        for _ in range(count):
            location.next = self._paging.allocate()
            location = location.next

    def _cut(self, location: Location, count: int) -> None:
        """Release all locations of a chain except the first `count`."""
        for _ in range(count - 1):
            assert location.next is not None
            location = location.next
        surplus, location.next = location.next, None
        self._release_chain(surplus)

    def _release_chain(self, location: Location | None) -> None:
        while location is not None:
            following = location.next
            self._paging.release(location)
            location = following

    def _write_chain(self, location: Location, data: bytes) -> None:
        start, remaining, unit_bytes = 0, len(data), self.location_bytes
        part: Location | None = location
        while part is not None:
            self._write(self._region, part.offset, data[start : start + unit_bytes])
            part.length = remaining
            start += unit_bytes
            remaining -= unit_bytes
            part = part.next

    def _check(self, locations: Iterable[Location]) -> None:
        """Assert every invariant, given the locations of all keys; O(locations)."""
        held: list[Location] = []
        dirty = 0
        for location in locations:
            chain: list[Location] = []
            for part in _chain(location):
                assert len(chain) < self._paging.locations_in_use, "a chain is circular"
                expected = location.length - len(chain) * self.location_bytes
                assert part.length == expected, "a chain's lengths disagree"
                assert part.length > 0 or not chain, "a chain is longer than its value"
                chain.append(part)
            assert len(chain) == self._locations_for(max(location.length, 0))
            dirty += location.length == DIRTY
            held += chain
        assert dirty == self._dirty
        self._paging._check(held)


class OnDemandMemory(Memory):
    """Hold locations only for keys that wait, so that no location is dirty.

    This is the memory of the report's section 7.1. A page returns to the pool as soon as none of
    its locations is used. The parameters are those of every `Memory`.

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


class NaiveMemory(Memory):
    """Hold a location for every key that was ever seen and is not forgotten.

    The report compares on-demand paging to this (section 7.3). The locations of keys that do not
    wait are dirty, as if room for all keys had been preallocated. A location for a known key never
    has to be allocated. The parameters are those of every `Memory`.

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


def _chain(location: Location) -> Iterator[Location]:
    part: Location | None = location
    while part is not None:
        yield part
        part = part.next
