"""Where a bucket's state is kept: blocks of bytes, each by a line and a number."""

from __future__ import annotations

from typing import Protocol


class BlockStore(Protocol):
    """A map of blocks, as the state store of a streaming query keeps it.

    A call crosses a socket and costs about as much for a hundred cells as for one, so what is kept
    here are blocks of many cells, and not cells.
    """

    def get(self, line: int, number: int) -> bytes | None:
        """Return a block, or None."""
        ...

    def put(self, line: int, number: int, block: bytes) -> None:
        """Keep a block in the place of the one before."""
        ...

    def remove(self, line: int, number: int) -> None:
        """Forget a block that there is."""
        ...


class DictBlockStore:
    """Blocks in memory: what a test looks into, and counts the calls of.

    >>> store = DictBlockStore()
    >>> store.put(0, 7, b"cells")
    >>> store.get(0, 7), store.get(0, 8), store.calls
    (b'cells', None, 3)
    """

    __slots__ = ("blocks", "calls")

    def __init__(self) -> None:
        self.blocks: dict[tuple[int, int], bytes] = {}
        self.calls = 0

    def get(self, line: int, number: int) -> bytes | None:
        """Return a block, or None."""
        self.calls += 1
        return self.blocks.get((line, number))

    def put(self, line: int, number: int, block: bytes) -> None:
        """Keep a block."""
        self.calls += 1
        self.blocks[line, number] = block

    def remove(self, line: int, number: int) -> None:
        """Forget a block."""
        self.calls += 1
        del self.blocks[line, number]
