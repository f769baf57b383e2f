"""What a queue of windows knows about one key: its windows, and how stale the application is.

Windows have versions, which grow from window to window. Application staleness falls, when a window
is delivered, to the first close of a newer one. So the closes to which it can fall are remembered:
one after the newest window delivered, and one after each that is committed and may be delivered.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort

from ..keys import NOBODY, KeyCell, Place
from ..staleness import StalenessSums
from ..windows import OpenWindows


class WindowPlace(Place):
    """What a queue of windows knows about one key."""

    __slots__ = ("buffer", "closes", "committed_versions", "key_hash")

    buffer: OpenWindows
    key_hash: int
    """The hash of its key, for the names of its windows."""
    closes: list[tuple[int, float]]
    """Version and arrival of the closes to which application staleness may fall, in order."""
    committed_versions: list[int]
    """The windows that may be delivered: committed, and neither delivered nor given up. In order;
    where every window is served, each from its start on."""

    def __init__(self, cell: KeyCell, buffer: OpenWindows, key_hash: int | None = None) -> None:
        super().__init__(cell, NOBODY)
        self.buffer = buffer
        self.key_hash = hash(cell.key) if key_hash is None else key_hash
        self.closes = []
        self.committed_versions = []

    def note_commit(self, version: int) -> None:
        """Note that a window may be delivered from now on."""
        insort(self.committed_versions, version)

    def note_close(self, version: int, arrival: float) -> None:
        """Note that a window was closed: the application is stale if it has none newer."""
        closes = self.closes
        if not closes:
            self.stale_since = arrival
            closes.append((version, arrival))
        else:
            committed = self.committed_versions
            following = bisect_left(committed, closes[-1][0])
            if following < len(committed) and committed[following] < version:
                closes.append((version, arrival))

    def note_gone(self, version: int) -> None:
        """Note that a window will not be delivered, or was."""
        committed = self.committed_versions
        del committed[bisect_left(committed, version)]

    def note_delivery(self, version: int, sums: StalenessSums, now: float) -> None:
        """Note that a window was delivered, and let application staleness fall."""
        self.note_gone(version)
        if version <= self.delivered_version:
            return
        self.delivered_version = version
        closes = self.closes
        del closes[: bisect_right(closes, (version, math.inf))]
        sums.application_falls(self, closes[0][1] if closes else None, now)

    def _check(self) -> None:
        """State every invariant."""
        assert self.closes == sorted(self.closes)
        assert self.stale_since == (self.closes[0][1] if self.closes else None)
        assert self.committed_versions == sorted(self.committed_versions)
        self.buffer._check()


class CommittedWindow:
    """One window from its commit to its delivery."""

    __slots__ = ("end", "name", "place", "seconds", "version")

    place: WindowPlace
    version: int
    end: float
    name: tuple[int, float]
    """By what its result is looked up: the hash of its key, and its end. The key is not hashed
    again, since that may fail, and windows leave in the middle of a change."""
    seconds: float
    """How long the consumer has worked on it so far."""

    def __init__(self, place: WindowPlace, version: int, end: float) -> None:
        self.place = place
        self.version = version
        self.end = end
        self.name = place.key_hash, end
        self.seconds = 0.0
