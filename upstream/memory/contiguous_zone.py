"""A zone of records that is virtually contiguous: a list of blocks.

This is the sub-paging layer of the report's section 7.2. A tuple is a *record*: a header with time
and length, and then its bytes. Records follow each other as if the blocks were one zone. So a
record may begin in one block and end in a later one, and the size of the blocks is free. Records
are written at the end and read in order. Whole blocks can be released anywhere.

A block is one physically contiguous stretch of bytes; the report calls it a fixed-length contiguous
zone, FLCZ. It is a location of a memory, and the kind of the memory decides what a release does.
On-demand memory takes the location back. Naive memory leaves it here as a spare for the next block.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from ..errors import PagePoolFullError
from .page import DIRTY, Location
from .paged_memory import Memory

Record = tuple[float, bytes]
"""The time and the bytes of a tuple."""

_HEADER: Final = struct.Struct("<dI")
_pack_header: Final = _HEADER.pack_into
_unpack_header: Final = _HEADER.unpack_from

RECORD_HEADER_BYTES: Final = _HEADER.size
"""How much longer a record is than the bytes of its value."""

# A short record is written in one step, which takes a third of the time. Zeros fill the rest of its
# 64 bytes, which is safe because no record follows the last one.
_SHORT: Final = 52
_SHORT_RECORD_BYTES: Final = RECORD_HEADER_BYTES + _SHORT
_pack_short: Final = struct.Struct(f"<dI{_SHORT}s").pack_into

_NO_BLOCKS: Final = range(0)


class Block:
    """One block of a chain: where it is, how much of it is used, and which blocks are next to it.

    In a chain, the block with the smaller number comes first. With offsets, the numbers give the
    report's partial order `<'`. Contiguous blocks have consecutive numbers; where blocks were
    released from the middle of the chain, numbers are missing.

    >>> from upstream.memory import OnDemandMemory, PagePool
    >>> memory = OnDemandMemory(PagePool(4096), location_bytes=512)
    >>> Block(memory.allocate(b"", now=0.0), number=3)
    Block(number=3, page=0, offset=0, dequeue_offset=0, enqueue_offset=0)
    """

    __slots__ = ("dequeue_offset", "enqueue_offset", "location", "next", "number", "previous")

    def __init__(self, location: Location, *, number: int) -> None:
        self.location = location
        """The page, and where the block begins in the region of the pool."""
        self.number = number
        """Its position in the chain."""
        self.dequeue_offset = 0
        """Where the next record is read if it begins in this block, from the block's start."""
        self.enqueue_offset = 0
        """Where the next record is written if there is room, from the block's start."""
        self.previous: Block | None = None
        self.next: Block | None = None

    def __repr__(self) -> str:
        location = self.location
        return (
            f"Block(number={self.number}, page={location.page.index}, offset={location.offset}, "
            f"dequeue_offset={self.dequeue_offset}, enqueue_offset={self.enqueue_offset})"
        )


class ContiguousZone:
    """Write records into blocks of `memory.location_bytes`, and read them.

    A position is a block and an offset in it. The start of a record has an offset inside the block.
    The end of a record has the offset after its last byte, which may be the end of the block.
    `ticks` returns the time for the accounting of the memory.

    >>> from upstream.memory import OnDemandMemory, PagePool
    >>> zone = ContiguousZone(OnDemandMemory(PagePool(4096), location_bytes=16), lambda: 0.0)
    >>> block, offset = zone.write(1.0, b"124.0")
    >>> zone.block_count, zone.read(block, offset)[:2]
    (2, (1.0, b'124.0'))
    >>> zone.release(block, None)
    >>> zone.block_count
    0
    """

    __slots__ = ("_memory", "_region", "_ticks", "block_bytes", "block_count", "last", "spares")

    def __init__(self, memory: Memory, ticks: Callable[[], float]) -> None:
        self._memory = memory
        self._ticks = ticks
        self._region = memory.region
        self.block_bytes = memory.location_bytes
        self.block_count = 0
        """How many blocks are in the list."""
        self.last: Block | None = None
        """The block with the end of the zone, at its enqueue offset. All other blocks are full."""
        self.spares: list[Location] = []
        """Dirty locations that the memory has left here for later blocks."""

    # Records.

    def write(self, time: float, data: bytes) -> tuple[Block, int]:
        """Add a record at the end, and return where it starts; O(bytes).

        Raises PagePoolFullError if there is no room now and ValueTooLargeError if there never will
        be. Then nothing has changed.
        """
        block = self.last
        length = len(data)
        if block is None:
            return self._write_over(_HEADER.pack(time, length) + data)
        offset = block.enqueue_offset
        end = offset + RECORD_HEADER_BYTES + length
        start = block.location.offset + offset
        if length <= _SHORT and offset + _SHORT_RECORD_BYTES <= self.block_bytes:
            _pack_short(self._region, start, time, length, data)
        elif end <= self.block_bytes:
            _pack_header(self._region, start, time, length)
            start += RECORD_HEADER_BYTES
            self._region[start : start + length] = data
        else:
            return self._write_over(_HEADER.pack(time, length) + data)
        block.enqueue_offset = end
        return block, offset

    def read(self, block: Block, offset: int) -> tuple[float, bytes, Block, int]:
        """Return the record that starts at this position, and the position of its end; O(bytes)."""
        start = offset + RECORD_HEADER_BYTES
        if start > self.block_bytes:
            return self._read_over(block, offset)
        base = block.location.offset
        time, length = _unpack_header(self._region, base + offset)
        end = start + length
        if end > self.block_bytes:
            return self._read_over(block, offset)
        return time, self._region[base + start : base + end].tobytes(), block, end

    def skip(self, block: Block, offset: int, count: int) -> tuple[Block, int]:
        """Return the end of the last of `count` records from this position; O(count + blocks)."""
        block_bytes = self.block_bytes
        for _ in range(count):
            if offset + RECORD_HEADER_BYTES <= block_bytes:
                _, length = _unpack_header(self._region, block.location.offset + offset)
            else:
                header, block, offset = self._gather(block, offset, RECORD_HEADER_BYTES)
                _, length = _unpack_header(header)
                offset -= RECORD_HEADER_BYTES
            offset += RECORD_HEADER_BYTES + length
            while offset > block_bytes:
                block = _following(block)
                offset -= block_bytes
        return block, offset

    def start(self, block: Block, offset: int) -> tuple[Block, int]:
        """Return the start of the record after one that ends at this position."""
        return (_following(block), 0) if offset == self.block_bytes else (block, offset)

    def records(self, block: Block, offset: int, count: int) -> Iterator[Record]:
        """Yield `count` records from this position on."""
        for _ in range(count):
            block, offset = self.start(block, offset)
            time, data, block, offset = self.read(block, offset)
            yield time, data

    def _write_over(self, record: bytes) -> tuple[Block, int]:
        """Add a record that needs a further block."""
        last, block_bytes = self.last, self.block_bytes
        self._memory.check_length(len(record))
        room = 0 if last is None else block_bytes - last.enqueue_offset
        added = self._allocate(-(-(len(record) - room) // block_bytes))
        blocks = [last] if last is not None and room else []
        blocks += map(self._link, added)
        place = blocks[0], blocks[0].enqueue_offset
        written = 0
        for block in blocks:
            part = record[written : written + block_bytes - block.enqueue_offset]
            start = block.location.offset + block.enqueue_offset
            self._region[start : start + len(part)] = part
            block.enqueue_offset += len(part)
            written += len(part)
        return place

    def _read_over(self, block: Block, offset: int) -> tuple[float, bytes, Block, int]:
        """Return a record that continues in another block, and the position of its end."""
        header, block, offset = self._gather(block, offset, RECORD_HEADER_BYTES)
        time, length = _unpack_header(header)
        data, block, offset = self._gather(block, offset, length)
        return time, data, block, offset

    def _gather(self, block: Block, offset: int, length: int) -> tuple[bytes, Block, int]:
        """Return `length` bytes, in one slice per block, and the position of their end."""
        parts = []
        while length:
            block, offset = self.start(block, offset)
            size = min(self.block_bytes - offset, length)
            start = block.location.offset + offset
            parts.append(self._region[start : start + size])
            offset += size
            length -= size
        return b"".join(parts), block, offset

    # Blocks.

    def __iter__(self) -> Iterator[Block]:
        block = self.last
        while block is not None:
            yield block
            block = block.previous

    def release(self, block: Block | None, stop: Block | None, kept: range = _NO_BLOCKS) -> None:
        """Release the blocks from `block` up to `stop` whose numbers are not `kept`; O(blocks)."""
        now = self._ticks()
        while block is not stop:
            assert block is not None
            behind = block.next
            if block.number not in kept:
                self._unlink(block)
                spare = self._memory.release(block.location, now)
                if spare is not None:
                    self.spares.append(spare)
            block = behind

    def end_at(self, block: Block, offset: int) -> None:
        """Let the zone end at this position, and release the blocks after it; O(blocks)."""
        if block.next is not None:
            self.release(block.next, None)
        block.enqueue_offset = offset

    def clear(self) -> None:
        """Release all blocks and spares; O(blocks)."""
        now = self._ticks()
        for block in list(self):
            self._unlink(block)
            self._memory.forget(block.location, now)
        for location in self.spares:
            self._memory.forget(location, now)
        self.spares.clear()

    def _allocate(self, count: int) -> list[Location]:
        """Return `count` locations for blocks, or raise PagePoolFullError and hold none."""
        memory, spares = self._memory, self.spares
        now = self._ticks()
        fresh: list[Location] = []
        try:
            for _ in range(count - len(spares)):
                location = memory.allocate(b"", now)
                fresh.append(location)
        except PagePoolFullError:
            for location in fresh:
                memory.forget(location, now)
            raise
        used = [memory.overwrite(spares.pop(), b"", now) for _ in range(count - len(fresh))]
        return used + fresh

    def _link(self, location: Location) -> Block:
        """Append a block to the list."""
        last = self.last
        block = Block(location, number=0 if last is None else last.number + 1)
        if last is not None:
            last.next = block
            block.previous = last
        self.last = block
        self.block_count += 1
        return block

    def _unlink(self, block: Block) -> None:
        """Remove a block from any position in the list."""
        if block.previous is not None:
            block.previous.next = block.next
        if block.next is not None:
            block.next.previous = block.previous
        else:
            self.last = block.previous
        block.previous = block.next = None
        self.block_count -= 1

    def _locations(self) -> list[Location]:
        """Return all locations that the memory has allocated to this zone."""
        return [block.location for block in self] + self.spares

    def _check(self) -> None:
        """Assert every invariant; O(blocks)."""
        blocks = list(self)[::-1]
        assert len(blocks) == self.block_count
        for block, behind in pairwise(blocks):
            assert block.next is behind, "the links disagree"
            assert block.number < behind.number
            assert block.enqueue_offset == self.block_bytes, "room in the middle of the list"
        if blocks:
            assert blocks[-1].next is None
            assert 0 < blocks[-1].enqueue_offset <= self.block_bytes
        assert all(block.location.length == 0 for block in blocks), "a block that is released"
        assert all(location.length == DIRTY for location in self.spares)
        locations = self._locations()
        offsets = {location.offset for location in locations}
        assert len(offsets) == len(locations), "two blocks in one location"


def _following(block: Block) -> Block:
    behind = block.next
    assert behind is not None, "a record runs over the end of the zone"
    return behind
