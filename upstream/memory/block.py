"""A block: one physically contiguous stretch of a window buffer's bytes.

The report calls it a fixed-length contiguous zone, FLCZ (section 7.2). A block has a location of
the memory, which is its page and its position there. It also has its neighbours in the chain, and
says how far it is filled and read. In the order of the chain, the blocks of a key form a zone that
is virtually contiguous. :class:`BlockChain` keeps them.
"""

from __future__ import annotations

from .location import Location


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
