"""What a queue's own stream knows of the queue: no more than keeps it fed.

A queue holds its own stream, so the stream must not hold the queue: else a queue that is dropped
would keep its memory until the garbage collector looks at it. What is asked for each new key does
not go by way of the queue at all, so it costs no look at a weak reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic
from weakref import ref

from ..errors import ClosedError
from ..keys import KeyCell
from ..schedulers import Terms
from ..updates import Key
from .attached import AttachedQueue, Final_co
from .beginning import Beginning
from .place_column import Rings

if TYPE_CHECKING:
    from .stream import Stream


class OwnQueue(Generic[Final_co]):
    """The one queue of its own stream, which is closed when the queue is gone.

    `admit` and `welcome` are those of the queue, of something that does not hold it.
    `rings` take the queue apart when neither it nor the stream is left.
    """

    __slots__ = ("_queue", "_rings", "admit", "welcome")

    def __init__(
        self,
        queue: AttachedQueue[Final_co],
        stream: Stream,
        *,
        admit: Callable[[Key], Terms],
        welcome: Callable[[KeyCell, Terms], None],
        rings: Rings,
    ) -> None:
        its_stream = ref(stream)

        def close_stream(_: object) -> None:
            stream = its_stream()
            if stream is not None:
                stream.close_orphaned()

        self._queue = ref(queue, close_stream)
        self.admit = admit
        self.welcome = welcome
        self._rings = rings

    @property
    def is_gone(self) -> bool:
        """Whether the queue was dropped."""
        return self._queue() is None

    def __eq__(self, other: object) -> bool:
        """Tell whether `other` is this, or the queue that it stands for."""
        return other is self or (other is not None and other is self._queue())

    __hash__ = None  # type: ignore[assignment]  # it equals a queue, which has another hash

    @property
    def copies_values(self) -> bool:
        """Whether it takes over values, and not only keys."""
        queue = self._queue()
        return queue is not None and queue.copies_values

    def check_is_free(self, stream: Stream) -> None:
        """Raise, since the queue has joined its own stream."""
        raise AssertionError("a queue that is attached to its own stream")

    def join(self, stream: Stream, beginning: Beginning) -> None:
        """Raise, as `check_is_free`."""
        self.check_is_free(stream)

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, as if it arrived now."""
        queue = self._queue()
        if queue is not None:
            queue.take_over(cell, now)

    def leave(self) -> Final_co:
        """Be fed no more, free everything, and return the final statistics."""
        queue = self._queue()
        if queue is None:
            raise ClosedError("queue")
        return queue.leave()

    def settle(self) -> None:
        """Take in what was not read yet. May fail."""
        queue = self._queue()
        if queue is not None:
            queue.settle()

    def counts(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived at the queue and was not forgotten; if in doubt, yes."""
        queue = self._queue()
        return queue is not None and queue.counts(cell)

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits, to be served, or is in process, or may."""
        queue = self._queue()
        return queue is not None and queue.holds(cell)

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Drop what the queue knows of the key."""
        queue = self._queue()
        if queue is not None:
            queue.forget_cell(cell, now)
