"""A container for items by chunk, which forgets the chunks that no window can need any more.

Rows, partials, pairs and notes: everything that an evaluation keeps per chunk is in rings. Chunks
are numbered in the order of time, and a chunk without items takes no memory.

If `add` is interrupted (Ctrl-C), the item is not in the ring. If `forget` is interrupted, the next
`forget` removes the rest. Between the two, a chunk may be listed without items, and is skipped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Ring(Generic[Item]):
    """Items by the number of their chunk; those of one chunk are in the order of arrival.

    >>> ring = Ring[str]()
    >>> for chunk, item in ((3, "a"), (1, "b"), (3, "c")):
    ...     _ = ring.add(chunk, item)
    >>> ring.between(0, 9), ring.forget(3), len(ring)
    ([(1, 'b'), (3, 'a'), (3, 'c')], [(1, ['b'])], 1)
    """

    __slots__ = ("_chunks", "_items")

    def __init__(self) -> None:
        self._items: dict[int, list[Item]] = {}
        self._chunks: list[int] = []
        """The chunks that have items, in ascending order."""

    def __len__(self) -> int:
        """Return how many chunks have items."""
        return len(self._chunks)

    def __contains__(self, chunk: object) -> bool:
        """Tell whether a chunk has items."""
        return chunk in self._items

    def __iter__(self) -> Iterator[int]:
        """Yield the chunks that have items, the oldest first."""
        return iter(self._chunks)

    def add(self, chunk: int, item: Item) -> int:
        """Add an item to a chunk, and return how many items it then has.

        O(1) for the newest chunk.
        """
        if not self.add_first(chunk, item):
            self._items[chunk].append(item)
        return len(self._items[chunk])

    def add_first(self, chunk: int, item: Item) -> bool:
        """Add an item to a chunk if it has no items, and tell whether that was so."""
        if chunk in self._items:
            return False
        at = bisect_left(self._chunks, chunk)
        if self._chunks[at : at + 1] != [chunk]:  # otherwise an `add` was interrupted here
            self._chunks.insert(at, chunk)
        self._items[chunk] = [item]
        return True

    def of(self, chunk: int) -> list[Item]:
        """Return the items of a chunk, in order."""
        return self._items.get(chunk, [])

    def replace(self, chunk: int, items: list[Item]) -> None:
        """Replace the items of a chunk."""
        assert items
        assert chunk in self._items
        self._items[chunk] = items

    def take_first(self, chunk: int, count: int) -> list[Item]:
        """Remove and return this many items of a chunk, the oldest first."""
        items = self._items.get(chunk, [])
        if count < len(items):
            self._items[chunk] = items[count:]
            return items[:count]
        if items:
            del self._items[chunk]
            del self._chunks[bisect_left(self._chunks, chunk)]
        return items

    def chunks(self, first: int, end: int) -> list[int]:
        """Return the chunks in `[first, end)` that have items, the oldest first."""
        return self._chunks[bisect_left(self._chunks, first) : bisect_left(self._chunks, end)]

    def between(self, first: int, end: int) -> list[tuple[int, Item]]:
        """Return the items of the chunks in `[first, end)`, with their chunks."""
        chunks = self.chunks(first, end)
        return [(chunk, item) for chunk in chunks for item in self._items.get(chunk, ())]

    def has_any(self, first: int, end: int) -> bool:
        """Tell whether any chunk in `[first, end)` has items. O(log chunks)."""
        at = bisect_left(self._chunks, first)
        return at < len(self._chunks) and self._chunks[at] < end

    def first_from(self, chunk: int) -> int | None:
        """Return the oldest chunk with items from this one on, or None. O(log chunks)."""
        at = bisect_left(self._chunks, chunk)
        return self._chunks[at] if at < len(self._chunks) else None

    def forget(self, before: int) -> list[tuple[int, list[Item]]]:
        """Forget all chunks before this one, and return them with their items."""
        at = bisect_left(self._chunks, before)
        if not at:
            return []
        gone = [(chunk, self._items[chunk]) for chunk in self._chunks[:at] if chunk in self._items]
        for chunk in self._chunks[:at]:
            self._items.pop(chunk, None)
        del self._chunks[:at]
        return gone

    def _check(self) -> None:
        """Assert every invariant."""
        assert self._chunks == sorted(self._items)
        assert all(self._items.values())
