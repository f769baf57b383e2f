"""The storage of a bucket's state: blocks of bytes, each with a line and a number."""

from __future__ import annotations

from typing import Protocol


class BlockStore(Protocol):
    """A map of blocks, such as the state store of a streaming query.

    A call crosses a socket and costs about as much for a hundred cells as for one. So each block
    holds many cells.
    """

    def get(self, line: int, number: int) -> bytes | None:
        """Return a block, or None."""
        ...

    def put(self, line: int, number: int, block: bytes) -> None:
        """Store a block, in place of the previous one."""
        ...

    def remove(self, line: int, number: int) -> None:
        """Remove a block that exists."""
        ...


class DictBlockStore:
    """Blocks in memory, with a count of the calls, for tests.

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
        """Store a block."""
        self.calls += 1
        self.blocks[line, number] = block

    def remove(self, line: int, number: int) -> None:
        """Remove a block."""
        self.calls += 1
        del self.blocks[line, number]
