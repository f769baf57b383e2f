"""Where the tuples of one key are until they leave: the enqueue buffer and the dequeue buffer.

The *enqueue buffer* is where tuples accumulate as they arrive, and where whole windows of them are
dropped; the *dequeue buffer* holds what is still to leave of the committed window (report, section
6.2). Which tuple goes where is the window buffer's business; here they are only held: as Python
objects (`PlainTuples`), or as bytes in the blocks of a page pool.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from .window_tuples import WindowEnd, WindowTuple


class BufferedTuples(Protocol):
    """Hold the tuples of one key, oldest first.

    The three ways to append raise PagePoolFullError, and change nothing, if there is no room.
    """

    append: Callable[[WindowTuple], None]
    """Add a tuple to the enqueue buffer. O(1)."""

    append_committed: Callable[[WindowTuple], None]
    """Add a tuple to the dequeue buffer. O(1)."""

    def append_to_both(self, window_tuple: WindowTuple) -> None:
        """Add a tuple to both buffers. O(1)."""
        ...

    def drop(self, count: int) -> None:
        """Drop the oldest `count` of the enqueue buffer. O(count)."""
        ...

    def truncate(self, count: int) -> None:
        """Drop the newest `count` of the enqueue buffer, of which none is in the dequeue buffer."""
        ...

    def commit(self, count: int, mark: WindowEnd, *, dropping: int) -> None:
        """Let the oldest `count` of the enqueue buffer be the dequeue buffer, which is empty.

        The first of them leaves with `mark` instead of its own. The enqueue buffer then loses its
        oldest `dropping`. O(count).
        """
        ...

    def take(self) -> WindowTuple | None:
        """Take the oldest out of the dequeue buffer, None if it is empty. O(1)."""
        ...

    def discard(self) -> None:
        """Empty the dequeue buffer."""
        ...

    def clear(self) -> None:
        """Let go of everything, since the key is gone."""
        ...

    def enqueued(self) -> list[WindowTuple]:
        """Return what is in the enqueue buffer; change nothing. O(its length)."""
        ...

    @property
    def enqueued_count(self) -> int:
        """How many are in the enqueue buffer."""
        ...

    @property
    def committed_count(self) -> int:
        """How many are in the dequeue buffer."""
        ...


class PlainTuples:
    """Hold the tuples as Python objects.

    >>> from upstream import Update
    >>> from upstream.windows import WindowMark
    >>> tuples = PlainTuples()
    >>> for time in (1.0, 2.0, 3.0):
    ...     tuples.append(WindowTuple(Update("IBM", 24.0, time), WindowMark.DISALLOW))
    >>> tuples.commit(2, WindowEnd(3.0), dropping=1)
    >>> tuples.take().mark, tuples.enqueued_count, tuples.committed_count
    (3.0, 2, 1)
    """

    __slots__ = ("_committed", "_enqueued", "append", "append_committed")

    def __init__(self) -> None:
        self._enqueued: list[WindowTuple] = []
        self._committed: deque[WindowTuple] = deque()
        # The lists' own methods: a method of ours around them would take three times as long.
        self.append: Callable[[WindowTuple], None] = self._enqueued.append
        self.append_committed: Callable[[WindowTuple], None] = self._committed.append

    def append_to_both(self, window_tuple: WindowTuple) -> None:
        """Add a tuple to both buffers."""
        self._enqueued.append(window_tuple)
        self._committed.append(window_tuple)

    def drop(self, count: int) -> None:
        """Drop the oldest `count` of the enqueue buffer."""
        del self._enqueued[:count]

    def truncate(self, count: int) -> None:
        """Drop the newest `count` of the enqueue buffer."""
        del self._enqueued[len(self._enqueued) - count :]

    def commit(self, count: int, mark: WindowEnd, *, dropping: int) -> None:
        """Copy the oldest `count` to the dequeue buffer, and drop the oldest `dropping`."""
        committed = self._committed
        assert not committed, "a window committed to before the last one has left"
        committed.extend(self._enqueued[:count])
        committed[0] = WindowTuple(committed[0].update, mark)
        del self._enqueued[:dropping]

    def take(self) -> WindowTuple | None:
        """Take the oldest out of the dequeue buffer, None if it is empty."""
        return self._committed.popleft() if self._committed else None

    def discard(self) -> None:
        """Empty the dequeue buffer."""
        self._committed.clear()

    def clear(self) -> None:
        """Let go of everything."""
        self._enqueued.clear()
        self._committed.clear()

    def enqueued(self) -> list[WindowTuple]:
        """Return what is in the enqueue buffer."""
        return list(self._enqueued)

    @property
    def enqueued_count(self) -> int:
        """How many are in the enqueue buffer."""
        return len(self._enqueued)

    @property
    def committed_count(self) -> int:
        """How many are in the dequeue buffer."""
        return len(self._committed)
