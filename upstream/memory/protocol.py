"""What a queue asks of the memory it keeps its values in.

A key has no location until its first value is allocated, and then owns the handle that it got.
What becomes of a location when its key no longer waits is the policy in which memories differ.
Every `now` is the time by the queue's clock and never goes backwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .location import Location
from .usage import MemoryUsage


class Memory(Protocol):
    """Store encoded values in locations.

    Calls are O(1), plus the length of a value that takes several locations. Using a handle after
    it was given up is a bug of the caller's, and an assertion fails.
    """

    @property
    def location_bytes(self) -> int:
        """The longest value that takes a single location."""
        ...

    @property
    def region(self) -> memoryview:
        """The bytes of the pool: whoever holds a location may use its part of them directly."""
        ...

    def claim(self) -> None:
        """Note that a stream keeps its values here; AlreadyAttachedError if another one does."""
        ...

    def fits(self, length: int) -> bool:
        """Tell whether a value of `length` bytes could be stored if the pool were empty."""
        ...

    def check_length(self, length: int) -> None:
        """Raise ValueTooLargeError unless a value of `length` bytes fits."""
        ...

    def has_room_for(self, lengths: Iterable[int]) -> bool:
        """Tell whether values of these lengths would all find room now, if none replaced another.

        ValueTooLargeError if one never will.
        """
        ...

    def allocate(self, data: bytes, now: float) -> Location:
        """Store the value of a key that has no location.

        Raises PagePoolFullError if there is no room now and ValueTooLargeError if there never
        will be; nothing has changed then.
        """
        ...

    def overwrite(self, location: Location, data: bytes, now: float) -> Location:
        """Store `data` in place of the value at `location`, and return the handle to keep.

        A longer value takes more locations, a shorter one gives some back. A dirty location is
        of use again. When it raises, as allocate does, the old value is as it was.
        """
        ...

    def read(self, location: Location) -> bytes:
        """Return the value at `location`."""
        ...

    def release(self, location: Location, now: float) -> Location | None:
        """Give up the value, since its key waits no more; return what the key keeps, if anything.

        A location that is returned is dirty: it can be overwritten and forgotten, but not read.
        """
        ...

    def forget(self, location: Location, now: float) -> None:
        """Give up all that the key holds, since the key itself is gone."""
        ...

    def usage(self, now: float) -> MemoryUsage:
        """Return what is held, and the averages so far."""
        ...
