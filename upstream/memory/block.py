"""A block: one physically contiguous stretch of a window buffer's bytes.

The report calls it a fixed-length contiguous zone, FLCZ (section 7.2). It adds to a location of
the memory, which says in which page and where the block is, how far the block is filled and how
far it is read, and its neighbours: aligned in the order of the list, the blocks of a key make up a
zone that is virtually contiguous. :class:`BlockChain` keeps them.
"""

from __future__ import annotations

from .location import Location


class Block:
    """Know where a block is, how much of it is filled, and what comes before and behind it.

    Of two blocks of a chain, the one with the smaller number comes first; together with offsets,
    numbers are the report's partial order `<'`. The numbers of blocks that are contiguous follow
    each other; where blocks were released out of the middle, numbers are missing.

    >>> from upstream.memory import OnDemandMemory, PagePool
    >>> memory = OnDemandMemory(PagePool(4096), location_bytes=512)
    >>> Block(memory.allocate(b"", now=0.0), number=3)
    Block(number=3, page=0, offset=0, dequeue_offset=0, enqueue_offset=0)
    """

    __slots__ = ("dequeue_offset", "enqueue_offset", "location", "next", "number", "previous")

    def __init__(self, location: Location, *, number: int) -> None:
        self.location = location
        """The enclosing page, and where in the region of the pool the block begins."""
        self.number = number
        """Its place in the chain."""
        self.dequeue_offset = 0
        """Where the next record is read, if it begins in this block; from the block's start."""
        self.enqueue_offset = 0
        """Where the next record is written, if there is room; from the block's start."""
        self.previous: Block | None = None
        self.next: Block | None = None

    def __repr__(self) -> str:
        location = self.location
        return (
            f"Block(number={self.number}, page={location.page.index}, offset={location.offset}, "
            f"dequeue_offset={self.dequeue_offset}, enqueue_offset={self.enqueue_offset})"
        )
