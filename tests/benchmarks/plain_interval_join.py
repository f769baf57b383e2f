"""An interval join in plain Python: for each key, a deque of the rows of each stream."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

Rows = tuple[Sequence[int], Sequence[int], Sequence[int]]
"""Times, keys and values."""


class PlainIntervalJoin:
    """Joins rows of a with rows of b that are not newer, and at most `band` older.

    Rows of a key leave when the key is looked up, and all others in a sweep after each batch.
    """

    def __init__(self, band: int) -> None:
        self._band = band
        self._older: defaultdict[int, deque[tuple[int, int]]] = defaultdict(deque)
        self._newer: defaultdict[int, deque[tuple[int, int]]] = defaultdict(deque)
        self._queue: deque[tuple[int, int]] = deque()
        """The rows of b in their order, as their times and keys."""
        self._waiting: deque[tuple[int, int]] = deque()
        """The rows of a in their order."""
        self._newest_a = self._newest_b = -1
        self.late = 0

    def take_a(self, rows: Rows) -> list[tuple[int, int, int]]:
        """Take rows of a; return the keys and values of the new pairs."""
        found = []
        band, older, newer, queue = self._band, self._older, self._newer, self._waiting
        newest = self._newest_a
        for time, key, value in zip(*rows, strict=True):
            if time < newest:
                self.late += 1
                continue
            newest = time
            for partner, other in older[key]:
                if time - band <= partner <= time:
                    found.append((key, value, other))
            newer[key].append((time, value))
            queue.append((time, key))
        self._newest_a = newest
        self._evict()
        return found

    def take_b(self, rows: Rows) -> list[tuple[int, int, int]]:
        """Take rows of b; return the keys and values of the new pairs."""
        found = []
        band, older, newer, queue = self._band, self._older, self._newer, self._queue
        newest = self._newest_b
        for time, key, value in zip(*rows, strict=True):
            if time < newest:
                self.late += 1
                continue
            newest = time
            for partner, other in newer[key]:
                if partner - band <= time <= partner:
                    found.append((key, other, value))
            older[key].append((time, value))
            queue.append((time, key))
        self._newest_b = newest
        self._evict()
        return found

    def _evict(self) -> None:
        older, newer, queue, waiting = self._older, self._newer, self._queue, self._waiting
        end = self._newest_a - self._band
        while queue and queue[0][0] < end:
            older[queue.popleft()[1]].popleft()
        while waiting and waiting[0][0] < self._newest_b:
            newer[waiting.popleft()[1]].popleft()
