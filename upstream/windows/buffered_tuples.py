"""The enqueue buffer and the dequeue buffer: where the tuples of one key are until they leave.

In the *enqueue buffer*, tuples accumulate as they arrive, and whole windows of them are dropped.
The *dequeue buffer* has the tuples of the committed window that have not left (report, section
6.2). The window buffer decides where each tuple goes. This module stores the tuples: as Python
objects (`ObjectTuples`), or as bytes in the blocks of a page pool (`BlockChain`).

Most tuples never leave. So a tuple is stored without names, and becomes an `Update` when it leaves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..updates import Key

Row = tuple[Key, object, float]
"""Key, value and time: an update without its names."""


class BufferedTuples(Protocol):
    """The tuples of one key, oldest first.

    The three functions that append raise PagePoolFullError if there is no room; then nothing has
    changed. They and `take` are attributes, so that callers can store them and save a look-up.
    """

    @property
    def append(self) -> Callable[[Row], None]:
        """Add a tuple to the enqueue buffer. O(1)."""
        ...

    @property
    def append_committed(self) -> Callable[[Row], None]:
        """Add a tuple to the dequeue buffer. O(1)."""
        ...

    @property
    def append_to_both(self) -> Callable[[Row], None]:
        """Add a tuple to both buffers. O(1)."""
        ...

    @property
    def take(self) -> Callable[[], Row]:
        """Remove and return the oldest of the dequeue buffer; IndexError if it is empty. O(1)."""
        ...

    @property
    def enqueued_count(self) -> Callable[[], int]:
        """Return the number of tuples in the enqueue buffer. O(1)."""
        ...

    @property
    def committed_count(self) -> Callable[[], int]:
        """Return the number of tuples in the dequeue buffer. O(1)."""
        ...

    def drop(self, count: int) -> None:
        """Drop the oldest `count` of the enqueue buffer. O(its length)."""
        ...

    def truncate(self, count: int) -> None:
        """Drop the newest `count` of the enqueue buffer. None may be in the dequeue buffer."""
        ...

    def commit(self, count: int, *, dropping: int) -> None:
        """Make the oldest `count` of the enqueue buffer the dequeue buffer, which must be empty.

        Then drop the oldest `dropping` of the enqueue buffer. O(count).
        """
        ...

    def drop_committed(self) -> None:
        """Empty the dequeue buffer."""
        ...

    def clear(self) -> None:
        """Empty both buffers and release their memory, because the key was forgotten."""
        ...

    def enqueued(self) -> list[Row]:
        """Return the tuples of the enqueue buffer; change nothing. O(its length)."""
        ...


class ObjectTuples:
    """Store the tuples as Python objects.

    >>> tuples = ObjectTuples()
    >>> for time in (1.0, 2.0, 3.0):
    ...     tuples.append(("IBM", 24.0, time))
    >>> tuples.commit(2, dropping=1)
    >>> tuples.take(), tuples.enqueued_count(), tuples.committed_count()
    (('IBM', 24.0, 1.0), 2, 1)
    """

    __slots__ = (
        "_committed",
        "_enqueued",
        "append",
        "append_committed",
        "append_to_both",
        "committed_count",
        "enqueued_count",
        "take",
    )

    def __init__(self) -> None:
        enqueued: list[Row] = []
        committed: deque[Row] = deque()
        self._enqueued = enqueued
        self._committed = committed
        # The lists' own methods: a method around each of them would take three times as long.
        self.append: Callable[[Row], None] = enqueued.append
        self.append_committed: Callable[[Row], None] = committed.append
        self.take: Callable[[], Row] = committed.popleft
        self.enqueued_count: Callable[[], int] = enqueued.__len__
        self.committed_count: Callable[[], int] = committed.__len__

        def append_to_both(row: Row) -> None:
            enqueued.append(row)
            committed.append(row)

        self.append_to_both: Callable[[Row], None] = append_to_both

    def drop(self, count: int) -> None:
        """Drop the oldest `count` of the enqueue buffer."""
        del self._enqueued[:count]

    def truncate(self, count: int) -> None:
        """Drop the newest `count` of the enqueue buffer."""
        del self._enqueued[len(self._enqueued) - count :]

    def commit(self, count: int, *, dropping: int) -> None:
        """Copy the oldest `count` to the dequeue buffer, and drop the oldest `dropping`."""
        assert not self._committed, "the previous committed window has not left yet"
        self._committed.extend(self._enqueued[:count])
        del self._enqueued[:dropping]

    def drop_committed(self) -> None:
        """Empty the dequeue buffer."""
        self._committed.clear()

    def clear(self) -> None:
        """Empty both buffers."""
        self._enqueued.clear()
        self._committed.clear()

    def enqueued(self) -> list[Row]:
        """Return the tuples of the enqueue buffer."""
        return list(self._enqueued)
