"""The buffered tuples of a window queue as bytes in blocks of the page pool.

Here the window buffer of a key (report, section 6.2) meets the memory for it (section 7.2): values
go through a codec, and which block a tuple is in is the business of the :class:`BlockChain`. The
mark of the tuple that starts the committed window is a window's end, which is more than a record
has room for; there is one at a time, so it stays here until the tuple is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..memory import BlockChain, Codec
from ..updates import Key, Update
from ..windows import WindowEnd, WindowMark, WindowTuple

# Looking them up in the enumeration takes as long as reading a record.
_INSIDE: Final = WindowMark.INSIDE
_DISALLOW: Final = WindowMark.DISALLOW
_INSIDE_NUMBER: Final = int(_INSIDE)


class BlockTuples:
    """Hold the tuples of `key` in `chain`, their values encoded by `codec`.

    What the codec cannot encode is refused with ValueNotEncodableError, and what finds no room
    with PagePoolFullError or ValueTooLargeError; nothing has changed then. A value that cannot be
    decoded stays, and can be taken again.

    >>> from upstream.memory import BytesCodec, OnDemandMemory, PagePool
    >>> memory = OnDemandMemory(PagePool(4096), location_bytes=256)
    >>> tuples = BlockTuples("IBM", BlockChain(memory, ticks=lambda: 0.0), BytesCodec())
    >>> for time in (1.0, 2.0, 3.0):
    ...     tuples.append(WindowTuple(Update("IBM", b"24.0", time), WindowMark.DISALLOW))
    >>> tuples.commit(2, WindowEnd(3.0), dropping=1)
    >>> tuples.take().mark, tuples.enqueued_count, tuples.committed_count
    (3.0, 2, 1)
    """

    __slots__ = ("_chain", "_codec", "_key", "_mark", "append", "append_committed")

    def __init__(self, key: Key, chain: BlockChain, codec: Codec) -> None:
        self._key = key
        self._chain = chain
        self._codec = codec
        self._mark: WindowEnd | None = None
        """The mark of the next tuple that leaves, if it is not its own."""
        # The protocol has these as attributes. Methods of ours in them would be references in a
        # circle, and the page pool would outlive its queue until the garbage collector comes.
        self.append: Callable[[WindowTuple], None] = lambda window_tuple: chain.append(
            *_record(window_tuple, codec)
        )
        self.append_committed: Callable[[WindowTuple], None] = lambda window_tuple: (
            chain.append_committed(*_record(window_tuple, codec))
        )

    def append_to_both(self, window_tuple: WindowTuple) -> None:
        """Add a tuple to both buffers; it is stored once."""
        self._chain.append_to_both(*_record(window_tuple, self._codec))

    def drop(self, count: int) -> None:
        """Drop the oldest `count` of the enqueue buffer."""
        self._chain.drop(count)

    def truncate(self, count: int) -> None:
        """Drop the newest `count` of the enqueue buffer."""
        self._chain.truncate(count)

    def commit(self, count: int, mark: WindowEnd, *, dropping: int) -> None:
        """Let the oldest `count` be the dequeue buffer as well, and drop the oldest `dropping`."""
        self._chain.commit(count, dropping=dropping)
        self._mark = mark

    def take(self) -> WindowTuple | None:
        """Take the oldest out of the dequeue buffer, None if it is empty."""
        record = self._chain.take(self._codec.decode)
        if record is None:
            return None
        time, number, value = record
        mark: WindowMark | WindowEnd = _INSIDE if number == _INSIDE_NUMBER else _DISALLOW
        if self._mark is not None:
            mark, self._mark = self._mark, None
        return self._tuple(time, mark, value)

    def discard(self) -> None:
        """Empty the dequeue buffer."""
        self._chain.discard()
        self._mark = None

    def clear(self) -> None:
        """Let go of everything, and give all memory back."""
        self._chain.clear()
        self._mark = None

    def enqueued(self) -> list[WindowTuple]:
        """Return what is in the enqueue buffer."""
        decode = self._codec.decode
        return [
            self._tuple(time, WindowMark(number), decode(data))
            for time, number, data in self._chain.enqueued()
        ]

    @property
    def enqueued_count(self) -> int:
        """How many are in the enqueue buffer."""
        return self._chain.enqueued_count

    @property
    def committed_count(self) -> int:
        """How many are in the dequeue buffer."""
        return self._chain.committed_count

    def _tuple(self, time: float, mark: WindowMark | WindowEnd, value: object) -> WindowTuple:
        # Not Update(...): its generated constructor takes three times as long.
        update = tuple.__new__(Update, (self._key, value, time))
        return tuple.__new__(WindowTuple, (update, mark))


def _record(window_tuple: WindowTuple, codec: Codec) -> tuple[float, int, bytes]:
    update, mark = window_tuple
    assert update is not None, "a mark alone is not kept"
    assert mark is _INSIDE or mark is _DISALLOW, "a mark that no record has room for"
    return update[2], mark, codec.encode(update[1])
