"""A block chain: the tuples in the enqueue buffer and in the dequeue buffer of one key.

This is the memory of the report's window buffer (section 7.2). Values arrive encoded, because it
must be known before any change whether they can be encoded. They are decoded when they leave. The
report stores a mark with each tuple; here the window buffer makes marks when tuples leave.

The tuples are records in a :class:`ContiguousZone`. Four pointers, each a block and an offset in
it, say which records are needed:

* *DF* and *WE* are the ends of the dequeue buffer. The next record is taken at DF, and the
  committed window ends at WE so far.
* *WS* and *ET* are the ends of the enqueue buffer. The window that may be committed next starts at
  WS, and the next record is written at ET. The zone ends at ET.

A record in both buffers is stored once, and only pointers move when it passes from one buffer to
the other. The buffers may overlap in either direction, but WE is never after ET. Records between WE
and WS are in neither buffer, and whole blocks of them are released from the middle of the chain.

The report does not define the pointers of an empty buffer. Here they are None, and ET moves back to
WE when the enqueue buffer becomes empty. So dropped records are overwritten, and the committed
window can grow in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..updates import Key
from .codecs import Codec
from .contiguous_zone import Block, ContiguousZone
from .page import Location
from .paged_memory import Memory

Row = tuple[Key, object, float]
"""Key, value and time of a tuple."""

_NO_BLOCKS: Final = range(0)


class BlockChain:
    """The tuples of `key`, in blocks of `memory` that have `location_bytes` each.

    `ticks` returns the time for the accounting of the memory, and `codec` decodes the values. The
    three methods that append are O(bytes). Without room they raise PagePoolFullError, or
    ValueTooLargeError if there can never be room, and then nothing has changed. A block is released
    as soon as neither buffer needs it.

    >>> from upstream.memory import BytesCodec, OnDemandMemory, PagePool
    >>> memory = OnDemandMemory(PagePool(4096), location_bytes=32)
    >>> chain = BlockChain("IBM", memory, lambda: 0.0, BytesCodec())
    >>> for time, data in ((1.0, b"24.0"), (2.0, b"25.0"), (3.0, b"24.5")):
    ...     chain.append(("IBM", data, time))
    >>> chain.block_count
    2
    >>> chain.commit(2, dropping=1)
    >>> chain.take(), chain.enqueued_count(), chain.committed_count()
    (('IBM', b'24.0', 1.0), 2, 1)
    """

    __slots__ = (
        "_committed",
        "_decode",
        "_df",
        "_enqueued",
        "_key",
        "_we",
        "_we_offset",
        "_ws",
        "_ws_offset",
        "_zone",
    )

    def __init__(self, key: Key, memory: Memory, ticks: Callable[[], float], codec: Codec) -> None:
        self._key = key
        self._decode = codec.decode
        self._zone = ContiguousZone(memory, ticks)
        # The offset of DF is the dequeue offset of its block. That of ET is the enqueue offset.
        self._df: Block | None = None
        self._we: Block | None = None
        self._we_offset = 0
        self._ws: Block | None = None
        self._ws_offset = 0
        self._enqueued = self._committed = 0

    @property
    def block_count(self) -> int:
        """How many blocks contain records."""
        return self._zone.block_count

    @property
    def spare_count(self) -> int:
        """How many further blocks are held dirty, because naive memory does not release them."""
        return len(self._zone.spares)

    def enqueued_count(self) -> int:
        """Return how many tuples are in the enqueue buffer."""
        return self._enqueued

    def committed_count(self) -> int:
        """Return how many tuples are in the dequeue buffer."""
        return self._committed

    # Appending tuples.

    def append(self, row: Row) -> None:
        """Add a tuple to the enqueue buffer."""
        block, offset = self._write(row)
        if self._ws is None:
            self._ws = block
            self._ws_offset = offset
        self._enqueued += 1

    def append_committed(self, row: Row) -> None:
        """Add a tuple to the dequeue buffer while the enqueue buffer is empty."""
        assert self._ws is None, "a committed record after the enqueue buffer"
        self._extend_committed(*self._write(row))

    def append_to_both(self, row: Row) -> None:
        """Add a tuple to both buffers. No record may lie after the dequeue buffer."""
        assert self._df is None or self._is_joined, "the committed window would have a hole"
        block, offset = self._write(row)
        self._extend_committed(block, offset)
        if self._ws is None:
            self._ws = block
            self._ws_offset = offset
        self._enqueued += 1

    def _write(self, row: Row) -> tuple[Block, int]:
        """Write a tuple at the end of the zone, and return where it starts."""
        _, value, time = row
        assert isinstance(value, bytes), "the value is not encoded"
        return self._zone.write(time, value)

    def _extend_committed(self, block: Block, offset: int) -> None:
        """Extend the dequeue buffer by the record that was just written there."""
        last = self._zone.last
        assert last is not None
        if self._df is None:
            self._df = block
            block.dequeue_offset = offset
        self._we = last
        self._we_offset = last.enqueue_offset
        self._committed += 1

    # Dropping tuples and committing to them.

    def drop(self, count: int) -> None:
        """Remove the oldest `count` from the enqueue buffer; O(count), or O(blocks) for all."""
        assert 0 <= count <= self._enqueued
        if count:
            self._start_behind(count, *self._end_of(count))

    def truncate(self, count: int) -> None:
        """Remove the newest `count` from the enqueue buffer; O(records left), O(blocks) for all.

        Unless all are removed, none of them may be in the dequeue buffer as well.
        """
        assert 0 <= count <= self._enqueued
        left = self._enqueued - count
        if not left:
            self.drop(count)
        elif count:
            block, offset = self._end_of(left)
            committed_until = (-1, 0) if self._we is None else (self._we.number, self._we_offset)
            assert committed_until <= (block.number, offset), "the tuples are committed"
            self._enqueued = left
            self._zone.end_at(block, offset)

    def commit(self, count: int, *, dropping: int) -> None:
        """Make the oldest `count` of the enqueue buffer the dequeue buffer, which must be empty.

        Then remove the oldest `dropping` from the enqueue buffer. O(count + dropping), or O(blocks)
        if both numbers cover the whole enqueue buffer.
        """
        first = self._ws
        assert self._df is None, "the previous committed window has not left yet"
        assert first is not None, "there is nothing to commit to"
        assert 0 < count <= self._enqueued
        assert 0 <= dropping <= self._enqueued
        block, offset = self._end_of(count)
        self._df = first
        first.dequeue_offset = self._ws_offset
        self._we = block
        self._we_offset = offset
        self._committed = count
        if dropping == count:
            self._start_behind(dropping, block, offset)
        else:
            self.drop(dropping)

    def _end_of(self, count: int) -> tuple[Block, int]:
        """Return where the oldest `count` records of the enqueue buffer end."""
        first, last = self._ws, self._zone.last
        assert first is not None
        assert last is not None
        if count == self._enqueued:
            return last, last.enqueue_offset
        return self._zone.skip(first, self._ws_offset, count)

    def _start_behind(self, count: int, block: Block, offset: int) -> None:
        """Remove from the enqueue buffer its oldest `count` records, which end there."""
        first = self._ws
        self._enqueued -= count
        if self._enqueued:
            self._ws, self._ws_offset = self._zone.start(block, offset)
            if self._ws is not first:
                self._zone.release(first, self._ws, self._committed_blocks)
            return
        self._ws = None
        self._zone.release(first, None, self._committed_blocks)
        if self._we is not None:
            self._zone.end_at(self._we, self._we_offset)

    # Taking tuples out.

    def take(self) -> Row:
        """Remove and return the oldest of the dequeue buffer; IndexError if it is empty. O(bytes).

        Its value is decoded first, so if the codec raises, the tuple can be taken again.
        """
        first = self._df
        if first is None:
            raise IndexError("the dequeue buffer is empty")
        time, data, block, offset = self._zone.read(first, first.dequeue_offset)
        row = self._key, self._decode(data), time
        if self._committed == 1:
            self.drop_committed()
            return row
        self._committed -= 1
        if offset == self._zone.block_bytes:
            block, offset = self._zone.start(block, offset)
        block.dequeue_offset = offset
        if block is not first:
            self._df = block
            self._zone.release(first, block, self._enqueued_blocks)
        return row

    def drop_committed(self) -> None:
        """Empty the dequeue buffer; O(blocks)."""
        first, last = self._df, self._we
        if first is None or last is None:
            return
        self._df = self._we = None
        self._committed = 0
        self._zone.release(first, last.next, self._enqueued_blocks)

    def clear(self) -> None:
        """Empty both buffers and release all blocks and spares; O(blocks)."""
        self._zone.clear()
        self._df = self._we = self._ws = None
        self._enqueued = self._committed = 0

    # Looking at the contents.

    def enqueued(self) -> list[Row]:
        """Return the tuples of the enqueue buffer, oldest first; change nothing. O(bytes)."""
        return self._rows(self._ws, self._ws_offset, self._enqueued)

    def committed(self) -> list[Row]:
        """Return the tuples of the dequeue buffer, oldest first; change nothing. O(bytes)."""
        offset = 0 if self._df is None else self._df.dequeue_offset
        return self._rows(self._df, offset, self._committed)

    def _rows(self, first: Block | None, offset: int, count: int) -> list[Row]:
        if first is None:
            return []
        key, decode = self._key, self._decode
        return [
            (key, decode(data), time) for time, data in self._zone.records(first, offset, count)
        ]

    @property
    def _is_joined(self) -> bool:
        """Whether the dequeue buffer ends where the next record will be written."""
        last = self._zone.last
        return self._we is last and last is not None and self._we_offset == last.enqueue_offset

    @property
    def _enqueued_blocks(self) -> range:
        """The numbers of the blocks that the enqueue buffer needs."""
        first, last = self._ws, self._zone.last
        if first is None or last is None:
            return _NO_BLOCKS
        return range(first.number, last.number + 1)

    @property
    def _committed_blocks(self) -> range:
        """The numbers of the blocks that the dequeue buffer needs."""
        first, last = self._df, self._we
        if first is None or last is None:
            return _NO_BLOCKS
        return range(first.number, last.number + 1)

    def _locations(self) -> list[Location]:
        """Return all locations that the memory has allocated to this key."""
        return self._zone._locations()

    def _check(self) -> None:
        """Assert every invariant; O(records)."""
        zone, last = self._zone, self._zone.last
        zone._check()
        assert (self._df is None) == (self._we is None) == (self._committed == 0)
        assert (self._ws is None) == (self._enqueued == 0)
        blocks = list(zone)
        for pointer in (self._df, self._we, self._ws):
            assert pointer is None or pointer in blocks, "a pointer to a block that is released"
        needed = {*self._enqueued_blocks, *self._committed_blocks}
        assert {block.number for block in blocks} == needed, "a block too many, or one is missing"
        if last is None:
            return
        end = last, last.enqueue_offset
        if self._ws is not None:
            self._check_buffer(self._ws, self._ws_offset, self._enqueued, end)
        if self._df is not None and self._we is not None:
            until = self._we, self._we_offset
            self._check_buffer(self._df, self._df.dequeue_offset, self._committed, until)
            assert (until[0].number, until[1]) <= (last.number, end[1]), "WE is behind ET"
            assert self._ws is not None or until == end, "dead records at the end"

    def _check_buffer(self, block: Block, offset: int, count: int, end: tuple[Block, int]) -> None:
        """Assert that `count` records lie between these two pointers."""
        assert 0 <= offset < self._zone.block_bytes
        assert 0 < end[1] <= self._zone.block_bytes
        for _ in range(count):
            assert (block.number, offset) < (end[0].number, end[1]), "fewer than were counted"
            block, offset = self._zone.skip(block, offset, 1)
        assert (block, offset) == end, "records and pointers disagree"
