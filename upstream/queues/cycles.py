"""Break the reference cycles among the parts of a queue as soon as the queue is dropped.

A key cell refers to its places, and each place to its cell. A stream refers to the parts of its
queues that listen to it, and these refer to the stream. Only the garbage collector frees such
cycles, and it may run late. So a queue and its own stream hold a `Cycles`, and nothing else does.
When both are gone, the parts release the references that form cycles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Releasable(Protocol):
    """A part that refers to itself through other objects."""

    def release(self) -> None:
        """Release the references that lead back to the part. This must not fail in any state."""
        ...


class Cycles:
    """Release the parts in some collections, once nothing refers to this object any more."""

    __slots__ = ("_collections",)

    def __init__(self) -> None:
        self._collections: list[Iterable[Releasable | None]] = []

    def add(self, parts: Iterable[Releasable | None]) -> None:
        """Release, at the end, the parts that the collection has then."""
        self._collections.append(parts)

    def __del__(self) -> None:
        for collection in self._collections:
            for part in collection:
                if part is not None:
                    part.release()
