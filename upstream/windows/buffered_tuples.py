"""Where the tuples of one key are until they leave: the enqueue buffer and the dequeue buffer.

The *enqueue buffer* is where tuples accumulate as they arrive, and where whole windows of them are
dropped; the *dequeue buffer* holds what is still to leave of the committed window (report, section
6.2). Which tuple goes where is the window buffer's business; here they are only held: as Python
objects (`ObjectTuples`), or as bytes in the blocks of a page pool.

Most tuples never leave, so one is held as a plain tuple, and becomes an `Update` when it does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..updates import Key

Row = tuple[Key, object, float]
"""An update before it has names: key, value and time."""


class BufferedTuples(Protocol):
    """Hold the tuples of one key, oldest first.

    The three ways to append raise PagePoolFullError, and change nothing, if there is no room. They
    and `take` are attributes, so that whoever holds them can call them without a detour.
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
        """Take the oldest out of the dequeue buffer; IndexError if it is empty. O(1)."""
        ...

    @property
    def enqueued_count(self) -> Callable[[], int]:
        """Return how many are in the enqueue buffer. O(1)."""
        ...

    @property
    def committed_count(self) -> Callable[[], int]:
        """Return how many are in the dequeue buffer. O(1)."""
        ...

    def drop(self, count: int) -> None:
        """Drop the oldest `count` of the enqueue buffer. O(its length)."""
        ...

    def truncate(self, count: int) -> None:
        """Drop the newest `count` of the enqueue buffer, of which none is in the dequeue buffer."""
        ...

    def commit(self, count: int, *, dropping: int) -> None:
        """Let the oldest `count` of the enqueue buffer be the dequeue buffer, which is empty.

        The enqueue buffer then loses its oldest `dropping`. O(count).
        """
        ...

    def discard(self) -> None:
        """Empty the dequeue buffer."""
        ...

    def clear(self) -> None:
        """Let go of everything, since the key is gone."""
        ...

    def enqueued(self) -> list[Row]:
        """Return what is in the enqueue buffer; change nothing. O(its length)."""
        ...


class ObjectTuples:
    """Hold the tuples as Python objects.

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
        # The lists' own methods: a method of ours around each would take three times as long.
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
        assert not self._committed, "a window committed to before the last one has left"
        self._committed.extend(self._enqueued[:count])
        del self._enqueued[:dropping]

    def discard(self) -> None:
        """Empty the dequeue buffer."""
        self._committed.clear()

    def clear(self) -> None:
        """Let go of everything."""
        self._enqueued.clear()
        self._committed.clear()

    def enqueued(self) -> list[Row]:
        """Return what is in the enqueue buffer."""
        return list(self._enqueued)
