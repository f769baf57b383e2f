"""What a queue needs of the memory that stores its values.

A key has no location until its first value is stored. From then on it owns the handle that it got.
The memories differ in what happens to a location when its key no longer waits. Every `now` is the
time of the queue's clock and never goes back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .location import Location
from .usage import MemoryUsage


class Memory(Protocol):
    """Store encoded values in locations.

    Every call is O(1), plus the length of a value that needs several locations. Using a handle
    after its release is a bug in the caller, and an assertion fails.
    """

    @property
    def location_bytes(self) -> int:
        """The length of the longest value that fits one location."""
        ...

    @property
    def region(self) -> memoryview:
        """The bytes of the pool. The owner of a location may use its part of them directly."""
        ...

    def claim(self) -> None:
        """Note that a stream stores its values here; a second raises AlreadyAttachedError."""
        ...

    def fits(self, length: int) -> bool:
        """Tell whether a value of `length` bytes would fit if the pool were empty."""
        ...

    def check_length(self, length: int) -> None:
        """Raise ValueTooLargeError unless a value of `length` bytes fits."""
        ...

    def has_room_for(self, lengths: Iterable[int]) -> bool:
        """Tell whether new values of these lengths would all find room now.

        None of them replaces another. Raises ValueTooLargeError if one can never fit.
        """
        ...

    def allocate(self, data: bytes, now: float) -> Location:
        """Store the value of a key that has no location.

        Raises PagePoolFullError if there is no room now and ValueTooLargeError if there never will
        be. Then nothing has changed.
        """
        ...

    def overwrite(self, location: Location, data: bytes, now: float) -> Location:
        """Replace the value at `location` by `data`, and return the handle to keep.

        A longer value needs more locations, and a shorter one releases some. A dirty location
        becomes live again. Raises like `allocate`; then the old value is unchanged.
        """
        ...

    def read(self, location: Location) -> bytes:
        """Return the value at `location`."""
        ...

    def release(self, location: Location, now: float) -> Location | None:
        """Release the value because its key no longer waits; return what the key keeps, or None.

        A returned location is dirty: it can be overwritten and forgotten, but not read.
        """
        ...

    def forget(self, location: Location, now: float) -> None:
        """Release everything that a forgotten key holds."""
        ...

    def usage(self, now: float) -> MemoryUsage:
        """Return what is held now, and the averages so far."""
        ...
