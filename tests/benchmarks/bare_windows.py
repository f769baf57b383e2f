"""What window queues are measured against: a plain deque per key, and no accounting.

The same work, though: the most recent closed window of each key, keys served in the order in which
they began to wait, a window's tuples one by one, and their sum at its end.
"""

from __future__ import annotations

from collections import deque
from itertools import islice


class BareLine:
    __slots__ = ("closed", "is_waiting", "key", "start", "tuples")

    def __init__(self, key: object, start: float) -> None:
        self.key = key
        self.tuples: deque[tuple[float, float]] = deque()
        self.start = start
        self.closed = 0
        self.is_waiting = False


class BareWindows:
    """The newest closed window per key, keys in place: dicts and deques, nothing else."""

    __slots__ = ("_lines", "_ready", "_size", "_slide", "_sum", "_waiting")

    def __init__(self, size: float, slide: float) -> None:
        self._size = size
        self._slide = slide
        self._lines: dict[object, BareLine] = {}
        self._waiting: deque[BareLine] = deque()
        self._ready: deque[tuple[float, float]] = deque()
        self._sum = 0.0

    def enqueue(self, key: object, value: float, time: float) -> None:
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = BareLine(key, time)
        tuples = line.tuples
        while time >= line.start + self._size:  # the window that starts there is closed
            while tuples and tuples[0][0] < line.start:
                tuples.popleft()
            line.closed = len(tuples)
            line.start += self._slide
            if not line.is_waiting:
                line.is_waiting = True
                self._waiting.append(line)
        tuples.append((time, value))

    def dequeue(self) -> tuple[float, float] | None:
        if not self._ready:
            if not self._waiting:
                return None
            line = self._waiting.popleft()
            line.is_waiting = False
            self._ready.extend(islice(line.tuples, line.closed))
        return self._ready.popleft()

    def process(self, entry: tuple[float, float]) -> float | None:
        self._sum += entry[1]
        if self._ready:
            return None
        total, self._sum = self._sum, 0.0
        return total
