"""References among the parts of a queue that form cycles, broken as soon as the queue is dropped.

A key cell refers to its places and each place to its cell, a stream to the parts of its queues that
listen to it and these to the stream. Only the garbage collector frees such cycles, and it may come
late. So a queue holds a `Cycles`, its own stream does, and nothing else: once neither is left, the
parts release what refers back to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Releasable(Protocol):
    """A part that refers to itself, by way of others."""

    def release(self) -> None:
        """Release what refers back to the part. Must not fail, whatever state it is in."""
        ...


class Cycles:
    """Releases what some collections hold, once nothing holds the object itself any more."""

    __slots__ = ("_collections",)

    def __init__(self) -> None:
        self._collections: list[Iterable[Releasable | None]] = []

    def add(self, parts: Iterable[Releasable | None]) -> None:
        """Release, in the end, what `parts` holds then."""
        self._collections.append(parts)

    def __del__(self) -> None:
        for collection in self._collections:
            for part in collection:
                if part is not None:
                    part.release()
