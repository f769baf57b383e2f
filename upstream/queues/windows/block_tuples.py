"""The buffered tuples of a window queue, as bytes in blocks of the page pool.

This module joins the window buffer of a key (report, section 6.2) to its memory (section 7.2). The
:class:`BlockChain` decides in which block a tuple is. Values arrive encoded, because it must be
known before any change whether they can be encoded. They are decoded when they leave. The report
stores a mark with each tuple; here the window buffer makes marks when tuples leave.
"""

from __future__ import annotations

from ...memory import BlockChain, Codec
from ...updates import Key
from ...windows.buffered_tuples import Row


class BlockTuples:
    """Store the tuples of `key` in `chain`; `codec` decodes their values.

    A tuple without room raises PagePoolFullError or ValueTooLargeError, and then nothing has
    changed. A value that cannot be decoded stays and can be taken again.

    >>> from upstream.memory import BytesCodec, OnDemandMemory, PagePool
    >>> memory = OnDemandMemory(PagePool(4096), location_bytes=256)
    >>> tuples = BlockTuples("IBM", BlockChain(memory, ticks=lambda: 0.0), BytesCodec())
    >>> for time in (1.0, 2.0, 3.0):
    ...     tuples.append(("IBM", b"24.0", time))
    >>> tuples.commit(2, dropping=1)
    >>> tuples.take(), tuples.enqueued_count(), tuples.committed_count()
    (('IBM', b'24.0', 1.0), 2, 1)
    """

    __slots__ = ("_chain", "_decode", "_key")

    def __init__(self, key: Key, chain: BlockChain, codec: Codec) -> None:
        self._key = key
        self._chain = chain
        self._decode = codec.decode

    def append(self, row: Row) -> None:
        """Add a tuple to the enqueue buffer."""
        self._chain.append(row[2], _encoded(row))

    def append_committed(self, row: Row) -> None:
        """Add a tuple to the dequeue buffer."""
        self._chain.append_committed(row[2], _encoded(row))

    def append_to_both(self, row: Row) -> None:
        """Add a tuple to both buffers."""
        self._chain.append_to_both(row[2], _encoded(row))

    def take(self) -> Row:
        """Remove and return the oldest of the dequeue buffer; IndexError if it is empty."""
        record = self._chain.take(self._decode)
        if record is None:
            raise IndexError("the dequeue buffer is empty")
        return self._key, record[1], record[0]

    def enqueued_count(self) -> int:
        """Return the number of tuples in the enqueue buffer."""
        return self._chain.enqueued_count

    def committed_count(self) -> int:
        """Return the number of tuples in the dequeue buffer."""
        return self._chain.committed_count

    def drop(self, count: int) -> None:
        """Drop the oldest `count` of the enqueue buffer."""
        self._chain.drop(count)

    def truncate(self, count: int) -> None:
        """Drop the newest `count` of the enqueue buffer."""
        self._chain.truncate(count)

    def commit(self, count: int, *, dropping: int) -> None:
        """Make the oldest `count` the dequeue buffer as well, and drop the oldest `dropping`."""
        self._chain.commit(count, dropping=dropping)

    def discard(self) -> None:
        """Empty the dequeue buffer."""
        self._chain.discard()

    def clear(self) -> None:
        """Empty both buffers, and release all memory."""
        self._chain.clear()

    def enqueued(self) -> list[Row]:
        """Return the tuples of the enqueue buffer."""
        key, decode = self._key, self._decode
        return [(key, decode(data), time) for time, data in self._chain.enqueued()]


def _encoded(row: Row) -> bytes:
    value = row[1]
    assert isinstance(value, bytes), "the value is not encoded"
    return value
